// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1000 assumed-size=8" | FileCheck %s --check-prefix=SMALL
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1" --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: result of hotdesk.contract and tm_tensor.scatter: in place: added-where-it-lies, 288 bytes
// WHY: result of hotdesk.contract and tm_tensor.scatter: in place: added-where-it-lies, 144 bytes
// SMALL-NOT: accumulate = true

#same = affine_map<(i, j) -> (i, j)>

// A momentum takes up both gradients of a table of words, that of the product and that of the rows looked up.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME:    [[M:%.*]]: tensor<9x4xf32> {hotdesk.donated}, [[A:%.*]]: tensor<5x9xf32>, [[B:%.*]]: tensor<5x4xf32>
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins([[M]] : tensor<9x4xf32>)
// CHECK-NEXT:    ^bb0([[X:%.*]]: f32, {{%.*}}: f32):
// CHECK-NEXT:      [[K:%.*]] = arith.mulf [[X]],
// CHECK-NEXT:      linalg.yield [[K]]
// CHECK:         [[P:%.*]] = "hotdesk.contract"([[A]], [[B]], [[S]]) {accumulate = true
// CHECK-NOT:     linalg.fill
// CHECK:         [[R:%.*]] = tm_tensor.scatter {{.*}} outs([[P]] :
// CHECK:         return [[R]]
func.func @tied(%m: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<5x9xf32>, %b: tensor<5x4xf32>, %u: tensor<3x1x4xf32>,
                %i: tensor<3x1xi64>) -> tensor<9x4xf32> {
  %z = arith.constant 0.0 : f32
  %d = arith.constant 0.9 : f32
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x9xf32>, tensor<5x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<9x4xf32>) -> tensor<9x4xf32>
  %q = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%f : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = arith.addf %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %p, %q : tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %both = arith.addf %y, %w : f32
    %kept = arith.mulf %x, %d : f32
    %sum = arith.addf %kept, %both : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// Without other terms, the first keeps its destination.
// CHECK-LABEL: func.func @both(
// CHECK-NOT:     linalg.generic
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[R:%.*]] = tm_tensor.scatter {{.*}} outs([[P]] :
// CHECK:         return [[R]]
func.func @both(%a: tensor<5x9xf32>, %b: tensor<5x4xf32>, %u: tensor<3x1x4xf32>, %i: tensor<3x1xi64>) -> tensor<9x4xf32> {
  %z = arith.constant dense<0.0> : tensor<9x4xf32>
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x9xf32>, tensor<5x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %q = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%z : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = arith.addf %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %w: f32, %o: f32):
    %both = arith.addf %y, %w : f32
    linalg.yield %both : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// What is made before another term is one of the other terms; what is a term as it is takes the place of the sum.
// CHECK-LABEL: func.func @before(
// CHECK:         "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[T:%.*]] = linalg.map { math.tanh }
// CHECK-NOT:     linalg.generic
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}, [[T]]) {accumulate = true
// CHECK:         return {{%.*}}, [[P]] :
func.func @before(%x: tensor<8x4xf32>, %a: tensor<5x8xf32>, %b: tensor<5x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %o = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = linalg.map { math.tanh } ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>)
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%t, %p : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%y: f32, %w: f32, %out: f32):
    %both = arith.addf %y, %w : f32
    linalg.yield %both : f32
  } -> tensor<8x4xf32>
  return %o, %r : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// Sizes that are open are read from what the sum writes over, which is made behind the first product and in front of the second.
// CHECK-LABEL: func.func @open(
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins({{%.*}}, [[P]] :
// CHECK:         [[R:%.*]] = "hotdesk.contract"({{.*}}, [[S]]) {accumulate = true
// CHECK:         return [[R]]
func.func @open(%m: tensor<?x4xf32> {hotdesk.donated}, %a: tensor<5x?xf32>, %b: tensor<5x4xf32>, %n: index) -> tensor<?x4xf32> {
  %d = arith.constant 0.9 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x?xf32>, tensor<5x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %f = tensor.empty(%n) : tensor<?x4xf32>
  %q = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x?xf32>, tensor<5x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %p, %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %kept = arith.mulf %x, %d : f32
    %some = arith.addf %kept, %y : f32
    %sum = arith.addf %some, %w : f32
    linalg.yield %sum : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
