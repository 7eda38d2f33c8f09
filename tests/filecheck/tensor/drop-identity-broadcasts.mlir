// RUN: %hotdesk-opt %s --split-input-file --hotdesk-drop-identity-broadcasts | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-drop-identity-broadcasts --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: view-of-operand

// The sizes are those that the tensor has.
// CHECK-LABEL: func.func @same(
// CHECK-SAME:    [[X:%.*]]: tensor<?x4xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return [[X]]
func.func @same(%x: tensor<?x4xf32> {hotdesk.shape = ["n", "4"]}) -> tensor<?x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi eq, %n, %one : index
    %k = arith.select %is, %zero, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Another size than the tensor's may be another (3).
// CHECK-LABEL: func.func @other(
// CHECK:         linalg.generic
func.func @other(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  %m = tensor.dim %y, %zero : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi eq, %n, %one : index
    %k = arith.select %is, %zero, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Columns of another order are another tensor (2).
// CHECK-LABEL: func.func @turned(
// CHECK:         linalg.generic
func.func @turned(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%j, %i] : tensor<4x4xf32>
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
