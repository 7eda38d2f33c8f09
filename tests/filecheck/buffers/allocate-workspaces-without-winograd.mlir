// RUN: %hotdesk-opt %s --hotdesk-allocate-workspaces=winograd=false --print-decisions 2>&1 | FileCheck %s

// What Winograd's filtering would take is told; a transposed convolution is given what it needs.
// CHECK:       decision: convolution workspace: declined: without-scratch, 1502208 bytes
// CHECK:       decision: convolution workspace: allocated: workspace,
// CHECK-LABEL: func.func @both(
// CHECK:         "hotdesk.conv"(%arg0, %arg1, %arg2) {
// CHECK:         memref.alloc()
// CHECK:         "hotdesk.conv"(%arg2, %arg3, %arg4, %{{.*}}) {
func.func @both(%x: memref<1x64x56x56xf32>, %w: memref<64x64x3x3xf32>, %y: memref<1x64x56x56xf32>,
    %v: memref<32x64x2x2xf32>, %z: memref<1x32x112x112xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x56x56xf32>, memref<64x64x3x3xf32>, memref<1x64x56x56xf32>) -> ()
  "hotdesk.conv"(%y, %v, %z) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x56x56xf32>, memref<32x64x2x2xf32>, memref<1x32x112x112xf32>) -> ()
  return
}
