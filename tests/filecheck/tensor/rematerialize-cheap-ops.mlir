// RUN: %hotdesk-opt %s --split-input-file --hotdesk-rematerialize-cheap-ops | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-rematerialize-cheap-ops --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: cheap-to-recompute

// Each user has a fill of its own, right in front of it.
// CHECK-LABEL: func.func @fill_for_each(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[E]] :
// CHECK-NEXT:    [[A:%.*]] = linalg.matmul {{.*}} outs([[F]] :
// CHECK-NEXT:    [[D:%.*]] = tensor.empty()
// CHECK-NEXT:    [[G:%.*]] = linalg.fill {{.*}} outs([[D]] :
// CHECK-NEXT:    linalg.matmul ins([[A]], {{.*}} outs([[G]] :
func.func @fill_for_each(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = linalg.matmul ins(%a, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}

// -----

// Who overwrites all of a fill, and does not read it, has a tensor without contents; without other users the fill goes.
// CHECK-LABEL: func.func @overwritten_unread(
// CHECK-NOT:     linalg.fill
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.tanh } ins({{%.*}} : tensor<4xf32>) outs([[E]] :
// CHECK-NEXT:    [[D:%.*]] = tensor.empty()
// CHECK-NEXT:    linalg.map { math.exp } ins([[A]] : tensor<4xf32>) outs([[D]] :
func.func @overwritten_unread(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  %b = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// One that is read by the same op stays, and so does one into which a part is inserted.
// CHECK-LABEL: func.func @read_beside(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[D:%.*]] = tensor.empty()
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[D]] :
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.tanh } ins([[F]] : tensor<4xf32>) outs([[E]] :
// CHECK:         [[G:%.*]] = linalg.fill
// CHECK-NEXT:    tensor.insert_slice {{%.*}} into [[G]][1] [2] [1]
func.func @read_beside(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%f : tensor<4xf32>) outs(%f : tensor<4xf32>)
  %b = tensor.insert_slice %x into %f[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Its sizes are those that it was made with.
// CHECK-LABEL: func.func @unread_sizes(
// CHECK-NOT:     linalg.fill
// CHECK:         [[N:%.*]] = tensor.dim
// CHECK-NEXT:    [[E:%.*]] = tensor.empty([[N]])
// CHECK-NEXT:    linalg.map { math.tanh } ins({{%.*}} : tensor<?xf32>) outs([[E]] :
func.func @unread_sizes(%x: tensor<?xf32> {hotdesk.shape = ["n"]}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>)
  return %a : tensor<?xf32>
}

// -----

// And it has the shape of what is reshaped.
// CHECK-LABEL: func.func @unread_reshape(
// CHECK-NOT:     linalg.fill
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<2x2xf32>
// CHECK-NEXT:    [[V:%.*]] = tensor.collapse_shape [[E]]
// CHECK-NEXT:    linalg.map { math.tanh } ins({{%.*}} : tensor<4xf32>) outs([[V]] :
func.func @unread_reshape(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = tensor.collapse_shape %f [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%v : tensor<4xf32>)
  return %a : tensor<4xf32>
}

// -----

// A fill of something that is there gives its user that.
// CHECK-LABEL: func.func @unread_part(
// CHECK-NOT:     linalg.fill
// CHECK:         [[P:%.*]] = tensor.extract_slice
// CHECK-NEXT:    linalg.map { math.tanh } ins({{%.*}} : tensor<4xf32>) outs([[P]] :
func.func @unread_part(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.extract_slice %y[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%p : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %a : tensor<4xf32>
}

// -----

// A definition with one user goes down to it, with the reshape between them; one of something computed stays.
// CHECK-LABEL: func.func @down_to_its_user(
// CHECK:         [[A:%.*]] = linalg.map { math.tanh }
// CHECK-NEXT:    [[W:%.*]] = tensor.expand_shape [[A]]
// CHECK-NEXT:    [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[E]] :
// CHECK-NEXT:    [[V:%.*]] = tensor.expand_shape [[F]]
// CHECK-NEXT:    linalg.matmul ins([[W]], [[W]] : tensor<2x2xf32>, tensor<2x2xf32>) outs([[V]] :
func.func @down_to_its_user(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = tensor.expand_shape %f [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %d = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %w = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %r = linalg.matmul ins(%w, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%v : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// An op without inputs that reads its init is computed from a tensor after all.
// CHECK-LABEL: func.func @reads_its_init(
// CHECK:         math.tanh
// CHECK-NOT:     math.tanh
// CHECK:         return
func.func @reads_its_init(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %t = math.tanh %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant that ops would overwrite is filled in for each; who only reads it reads the constant.
// CHECK-LABEL: func.func @constant_for_each(
// CHECK:         [[C:%.*]] = arith.constant dense<0.000000e+00>
// CHECK:         [[F:%.*]] = linalg.generic
// CHECK:         linalg.matmul {{.*}} outs([[F]] :
// CHECK:         [[G:%.*]] = linalg.generic
// CHECK:         linalg.matmul {{.*}} outs([[G]] :
// CHECK:         return {{.*}}, [[C]] :
func.func @constant_for_each(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %a = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = linalg.matmul ins(%a, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a, %b, %c : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A constant that nobody reads any more goes.
// CHECK-LABEL: func.func @constant_for_one(
// CHECK-NOT:     dense
// CHECK:         linalg.matmul
func.func @constant_for_one(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %a = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a : tensor<2x2xf32>
}

// -----

// A user in another block has its own there.
// CHECK-LABEL: func.func @in_another_block(
// CHECK:       ^bb1:
// CHECK-NEXT:    tensor.empty()
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    math.exp
func.func @in_another_block(%b: i1) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %b, ^left, ^right(%f : tensor<4xf32>)
^left:
  %a = math.exp %f : tensor<4xf32>
  cf.br ^right(%a : tensor<4xf32>)
^right(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// -----

// Memory is no value.
// CHECK-LABEL: func.func @memory(
// CHECK-COUNT-1: linalg.fill
// CHECK-NEXT:    return
func.func @memory(%m: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%m : memref<4xf32>)
  return
}
