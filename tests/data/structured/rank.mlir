// The rank of a tensor.
func.func @main(%x: tensor<4x6xi32>) -> tensor<index> {
  %r = tensor.rank %x : tensor<4x6xi32>
  %q = tensor.from_elements %r : tensor<index>
  return %q : tensor<index>
}
