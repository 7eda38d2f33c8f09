// Windows of size one are dropped; single elements.
func.func @main(%s: tensor<2x5xi32>, %x: tensor<4x5xi32>, %t: tensor<2x2xi32>) -> (tensor<4x5xi32>, tensor<4x5xi32>) {
  %i = arith.constant dense<[[3],[1]]> : tensor<2x1xindex>
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique : (tensor<2x5xi32>, tensor<4x5xi32>, tensor<2x1xindex>) -> tensor<4x5xi32>
  %k = arith.constant dense<[[[3,0],[1,1]],[[2,2],[0,4]]]> : tensor<2x2x2xi32>
  %r2 = tensor.scatter %t into %r[%k] scatter_dims([0,1]) unique : (tensor<2x2xi32>, tensor<4x5xi32>, tensor<2x2x2xi32>) -> tensor<4x5xi32>
  return %r, %r2 : tensor<4x5xi32>, tensor<4x5xi32>
}
