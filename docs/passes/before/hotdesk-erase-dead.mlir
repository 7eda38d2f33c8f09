// hotdesk-opt --hotdesk-erase-dead
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %unused = "hotdesk.contract"(%x, %w, %e) {equation = "mk,kn->mn", accumulate = false}
      : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
