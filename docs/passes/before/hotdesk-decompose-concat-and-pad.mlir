// hotdesk-opt --hotdesk-decompose-concat-and-pad
func.func @main(%a: tensor<2xf32>, %b: tensor<6xf32>) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<6xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

func.func @padded(%a: tensor<4xf32>, %v: f32) -> tensor<8xf32> {
  %p = tensor.pad %a low[1] high[3] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<8xf32>
  return %p : tensor<8xf32>
}
