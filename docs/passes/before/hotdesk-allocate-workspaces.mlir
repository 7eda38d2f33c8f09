// hotdesk-opt --hotdesk-allocate-workspaces
func.func @needs_scratch(%x: memref<1x64x56x56xf32>, %w: memref<64x64x3x3xf32>, %y: memref<1x64x28x28xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : (memref<1x64x56x56xf32>, memref<64x64x3x3xf32>, memref<1x64x28x28xf32>) -> ()
  return
}
