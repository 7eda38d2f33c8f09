// A constant around a tensor.
func.func @main(%x: tensor<3x4xf32>) -> tensor<6x7xf32> {
  %c = arith.constant 1.5 : f32
  %r = tensor.pad %x low[1,2] high[2,1] { ^bb0(%i: index, %j: index): tensor.yield %c : f32 } : tensor<3x4xf32> to tensor<6x7xf32>
  return %r : tensor<6x7xf32>
}
