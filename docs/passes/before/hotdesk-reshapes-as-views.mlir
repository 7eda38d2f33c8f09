// hotdesk-opt --hotdesk-reshapes-as-views
func.func @split(%x: tensor<?x?x12xf32> {hotdesk.shape = ["a", "b", "12"]}) -> tensor<?x?x3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x12xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x12xf32>
  %s = tensor.from_elements %a, %b, %c3, %c4 : tensor<4xindex>
  %r = tensor.reshape %x(%s) : (tensor<?x?x12xf32>, tensor<4xindex>) -> tensor<?x?x3x4xf32>
  return %r : tensor<?x?x3x4xf32>
}
