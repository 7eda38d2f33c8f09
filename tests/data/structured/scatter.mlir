// Windows of size one are kept.
func.func @main(%s: tensor<2x1x5xi32>, %x: tensor<4x5xi32>) -> tensor<4x5xi32> {
  %i = arith.constant dense<[[3],[1]]> : tensor<2x1xindex>
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique : (tensor<2x1x5xi32>, tensor<4x5xi32>, tensor<2x1xindex>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}
