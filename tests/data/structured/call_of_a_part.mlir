// A function that writes its argument gets a part of a tensor, and a reshaped one.
func.func private @set(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c1 = arith.constant 1 : index
  %s = arith.constant 7.0 : f32
  %w = tensor.insert %s into %x[%c1] : tensor<2xf32>
  return %w : tensor<2xf32>
}
func.func private @both(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c1 = arith.constant 1 : index
  %s = arith.constant 8.0 : f32
  %w = tensor.insert %s into %y[%c1] : tensor<2xf32>
  return %w, %x : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%a: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) {
  %t = arith.constant 5.0 : f32
  %b = tensor.splat %t : tensor<4xf32>
  %p = tensor.extract_slice %b[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %q = func.call @set(%p) : (tensor<2xf32>) -> tensor<2xf32>
  %r = tensor.insert_slice %q into %b[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %row = tensor.extract_slice %a[1, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
  %m:2 = func.call @both(%q, %row) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %r, %m#0, %m#1 : tensor<4xf32>, tensor<2xf32>, tensor<2xf32>
}
