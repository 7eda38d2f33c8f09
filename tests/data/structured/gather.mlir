// Windows of size one, kept and dropped, and a gather from a part.
func.func @main(%x: tensor<3x4x5xi32>) -> (tensor<2x4x1x5xi32>, tensor<2x4x5xi32>) {
  %i = arith.constant dense<[[1],[2]]> : tensor<2x1xindex>
  %q = tensor.gather %x[%i] gather_dims([0]) unique : (tensor<3x4x5xi32>, tensor<2x1xindex>) -> tensor<2x4x5xi32>
  %j = arith.constant dense<[[[1],[0],[1],[2]],[[2],[2],[1],[0]]]> : tensor<2x4x1xi32>
  %q2 = tensor.extract_slice %x[0,0,0][1,4,5][1,1,1] : tensor<3x4x5xi32> to tensor<4x5xi32>
  %r = tensor.gather %q2[%j] gather_dims([0]) unique : (tensor<4x5xi32>, tensor<2x4x1xi32>) -> tensor<2x4x1x5xi32>
  return %r, %q : tensor<2x4x1x5xi32>, tensor<2x4x5xi32>
}
