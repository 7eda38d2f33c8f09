// RUN: %hotdesk-opt %s --split-input-file --hotdesk-rematerialize-cheap-ops | FileCheck %s

// Each user has a fill of its own, right in front of it.
// CHECK-LABEL: func.func @fill_for_each(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[E]] :
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.tanh } ins({{%.*}} : tensor<4xf32>) outs([[F]] :
// CHECK-NEXT:    [[D:%.*]] = tensor.empty()
// CHECK-NEXT:    [[G:%.*]] = linalg.fill {{.*}} outs([[D]] :
// CHECK-NEXT:    linalg.map { math.exp } ins([[A]] : tensor<4xf32>) outs([[G]] :
func.func @fill_for_each(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  %b = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A definition with one user goes down to it, with the reshape between them; one of something computed stays.
// CHECK-LABEL: func.func @down_to_its_user(
// CHECK:         [[A:%.*]] = linalg.map { math.tanh }
// CHECK-NEXT:    [[W:%.*]] = tensor.expand_shape [[A]]
// CHECK-NEXT:    [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[E]] :
// CHECK-NEXT:    [[V:%.*]] = tensor.expand_shape [[F]]
// CHECK-NEXT:    linalg.map { arith.addf } ins([[W]], [[W]] : tensor<2x2xf32>, tensor<2x2xf32>) outs([[V]] :
func.func @down_to_its_user(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = tensor.expand_shape %f [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %d = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %w = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %r = linalg.map { arith.addf } ins(%w, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%v : tensor<2x2xf32>)
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
