// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-elementwise --print-decisions 2>&1 | FileCheck %s

// Named ops, `linalg.map` and `linalg.elementwise` become one loop as generic ones do.
// CHECK:       decision: result of linalg.exp: fused: single-reader
// CHECK-LABEL: func.func @chain(
// CHECK:         [[R:%.*]] = linalg.generic
// CHECK:           math.exp
// CHECK-NOT:     linalg.exp
// CHECK:         return [[R]]
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%a, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.map { math.absf } ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %d = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// A contraction keeps its name (rule 9), and what reduces is computed before it is read (rule 3).
// CHECK:       decision: result of linalg.exp: not fused: not-elementwise
// CHECK:       decision: result of linalg.matmul: not fused: producer-reduces
// CHECK-LABEL: func.func @product(
// CHECK:         linalg.exp
// CHECK:         linalg.matmul
// CHECK:         linalg.abs
func.func @product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.exp ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.abs ins(%b : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// What two read is kept (rule 6), unless it is free: a fill goes into both.
// CHECK-DAG:   decision: result of linalg.exp: not fused: multiple-readers
// CHECK-DAG:   decision: result of linalg.fill: fused: cheap-to-recompute
// CHECK-LABEL: func.func @twice(
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.exp
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @twice(%x: tensor<4xf32>, %k: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%k : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%a, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.mul ins(%a, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}
