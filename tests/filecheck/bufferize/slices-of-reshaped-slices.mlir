// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=results-in-donated --print-decisions 2>&1 | FileCheck %s

// A slice is reshaped, sliced again, and both parts are put back where they came from: nothing moves.
// CHECK-NOT:   copied
// CHECK-LABEL: func.func @put_back(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.map {{.*}} outs(%{{.*}} : memref<3x2xf32, strided<[2, 1], offset: 12>>)
// CHECK-NOT:     linalg
// CHECK:         return
func.func @put_back(%x: tensor<16x2xf32> {hotdesk.donated}) -> tensor<16x2xf32> {
  %v = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
  %s = tensor.extract_slice %v[1, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<4x4x2xf32> to tensor<2x4x2xf32>
  %u = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x4x2xf32> into tensor<8x2xf32>
  %w = tensor.extract_slice %u[2, 0] [3, 2] [1, 1] : tensor<8x2xf32> to tensor<3x2xf32>
  %y = linalg.map { math.tanh } ins(%w : tensor<3x2xf32>) outs(%w : tensor<3x2xf32>)
  %i = tensor.insert_slice %y into %u[2, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x2xf32>
  %e = tensor.expand_shape %i [[0, 1], [2]] output_shape [2, 4, 2] : tensor<8x2xf32> into tensor<2x4x2xf32>
  %j = tensor.insert_slice %e into %v[1, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<2x4x2xf32> into tensor<4x4x2xf32>
  %r = tensor.collapse_shape %j [[0, 1], [2]] : tensor<4x4x2xf32> into tensor<16x2xf32>
  return %r : tensor<16x2xf32>
}

// -----

// Put back elsewhere, the part is copied; what is there is none of what is read later.
// CHECK:       decision: operand 0 of tensor.insert_slice: copied: lies-elsewhere, 24 bytes
// CHECK-LABEL: func.func @elsewhere(
func.func @elsewhere(%x: tensor<16x2xf32> {hotdesk.donated}) -> tensor<16x2xf32> {
  %v = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
  %s = tensor.extract_slice %v[1, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<4x4x2xf32> to tensor<2x4x2xf32>
  %u = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x4x2xf32> into tensor<8x2xf32>
  %w = tensor.extract_slice %u[2, 0] [3, 2] [1, 1] : tensor<8x2xf32> to tensor<3x2xf32>
  %y = linalg.map { math.tanh } ins(%w : tensor<3x2xf32>) outs(%w : tensor<3x2xf32>)
  %i = tensor.insert_slice %y into %u[5, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x2xf32>
  %e = tensor.expand_shape %i [[0, 1], [2]] output_shape [2, 4, 2] : tensor<8x2xf32> into tensor<2x4x2xf32>
  %j = tensor.insert_slice %e into %v[1, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<2x4x2xf32> into tensor<4x4x2xf32>
  %r = tensor.collapse_shape %j [[0, 1], [2]] : tensor<4x4x2xf32> into tensor<16x2xf32>
  return %r : tensor<16x2xf32>
}
