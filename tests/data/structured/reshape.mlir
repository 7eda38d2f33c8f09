// Of a whole tensor, of a part, and of one that is overwritten.
// given: 4
func.func @main(%x: tensor<?x6xi32>, %y: tensor<4x6xi32> {hotdesk.donated}) -> (tensor<3x?xi32>, tensor<2x4xi32>, tensor<8x3xi32>) {
  %s = arith.constant dense<[3,8]> : tensor<2xindex>
  %t = arith.constant dense<[2,4]> : tensor<2xi32>
  %u = arith.constant dense<[8,3]> : tensor<2xi32>
  %r = tensor.reshape %x(%s) : (tensor<?x6xi32>, tensor<2xindex>) -> tensor<3x?xi32>
  %p = tensor.extract_slice %x[0,1][4,2][1,1] : tensor<?x6xi32> to tensor<4x2xi32>
  %q = tensor.reshape %p(%t) : (tensor<4x2xi32>, tensor<2xi32>) -> tensor<2x4xi32>
  %w = tensor.reshape %y(%u) : (tensor<4x6xi32>, tensor<2xi32>) -> tensor<8x3xi32>
  %w2 = arith.addi %w, %w : tensor<8x3xi32>
  return %r, %q, %w2 : tensor<3x?xi32>, tensor<2x4xi32>, tensor<8x3xi32>
}
