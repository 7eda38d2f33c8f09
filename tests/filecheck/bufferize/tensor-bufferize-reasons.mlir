// RUN: %hotdesk-opt %s --split-input-file --hotdesk-tensor-bufferize --print-decisions 2>&1 | FileCheck %s

// Nothing was asked about later readers, so the operand is never overwritten.
// CHECK: decision: operand 1 of linalg.generic: allocated: not-analysed
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<3x4xi32>) -> tensor<3x4xf32> {
  %r = tensor.bitcast %x : tensor<3x4xi32> to tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// The operand that dies here is read in another order than the result is written.
// CHECK: decision: operand 0 of tensor.collapse_shape: copied: different-layout
// CHECK-LABEL: func.func @collapse_of_gaps(
func.func @collapse_of_gaps(%x: tensor<4x6xf32>) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %r = linalg.map { math.tanh } ins(%b : tensor<12xf32>) outs(%e : tensor<12xf32>)
  return %r : tensor<12xf32>
}

// -----

// The value lies in other memory and is copied to where it has to be.
// CHECK: decision: operand 0 of tensor.insert_slice: copied: lies-elsewhere
// CHECK-LABEL: func.func @concat(
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}
