// The sizes of a tensor.
// given: 3
func.func @main(%x: tensor<?x6xi32>) -> tensor<2xindex> {
  %s = shape.shape_of %x : tensor<?x6xi32> -> tensor<2xindex>
  return %s : tensor<2xindex>
}
