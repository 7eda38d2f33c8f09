// The same bits with another type.
func.func @main(%x: tensor<3x4xi32>) -> tensor<3x4xf32> {
  %r = tensor.bitcast %x : tensor<3x4xi32> to tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
