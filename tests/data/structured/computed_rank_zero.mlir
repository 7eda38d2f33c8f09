// Tensors of one element.
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a = arith.negf %x : tensor<f32>
  %r = tensor.generate { %c = arith.constant 2.0 : f32
    tensor.yield %c : f32 } : tensor<f32>
  return %a, %r : tensor<f32>, tensor<f32>
}
