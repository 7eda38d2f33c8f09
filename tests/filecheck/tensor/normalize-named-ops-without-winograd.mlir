// RUN: %hotdesk-opt %s --hotdesk-normalize-named-ops=winograd=false | FileCheck %s

// Convolutions say that they are computed from all their products; those that were normalized before, too.
// CHECK-LABEL: func.func @both(
// CHECK:         "hotdesk.conv"({{.*}}strides = array<i64: 1, 1>, winograd = false}
// CHECK:         "hotdesk.conv"({{.*}}strides = array<i64: 2, 2>, winograd = false}
func.func @both(%x: tensor<1x2x8x8xf32>, %w: tensor<2x2x3x3xf32>, %y: tensor<1x2x6x6xf32>, %z: tensor<1x2x3x3xf32>)
    -> tensor<1x2x3x3xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) outs(%y : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %s = "hotdesk.conv"(%r, %w, %z) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : (tensor<1x2x6x6xf32>, tensor<2x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %s : tensor<1x2x3x3xf32>
}
