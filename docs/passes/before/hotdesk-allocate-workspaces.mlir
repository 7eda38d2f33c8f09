// hotdesk-opt --hotdesk-allocate-workspaces
func.func @needs_scratch(%x: memref<1x64x28x28xf32>, %w: memref<32x64x2x2xf32>, %y: memref<1x32x56x56xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x28x28xf32>, memref<32x64x2x2xf32>, memref<1x32x56x56xf32>) -> ()
  return
}
