// A slice of rank 0, with an offset and without one, gets dims; one of rank 1 loses its dim.
// given: 2
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>, tensor<f32>) {
  %first = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<f32>
  %a = tensor.expand_shape %first [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %b = tensor.expand_shape %first [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %third = tensor.extract_slice %x[2] [1] [1] : tensor<4xf32> to tensor<f32>
  %c = tensor.expand_shape %third [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %nth = tensor.extract_slice %x[%n] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %d = tensor.collapse_shape %nth [] : tensor<1xf32> into tensor<f32>
  return %a, %b, %c, %d : tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>, tensor<f32>
}
