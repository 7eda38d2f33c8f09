// Tensors of one element and of none, in a loop.
// given: 2
func.func @main(%a: tensor<f32>, %b: tensor<0x3xf32>, %n: index) -> (tensor<f32>, tensor<0x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<f32>, tensor<0x3xf32>) {
    %v = tensor.extract %x[] : tensor<f32>
    %t = arith.addf %v, %s : f32
    %w = tensor.insert %t into %x[] : tensor<f32>
    %f = linalg.fill ins(%t : f32) outs(%y : tensor<0x3xf32>) -> tensor<0x3xf32>
    scf.yield %w, %f : tensor<f32>, tensor<0x3xf32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<0x3xf32>
}
