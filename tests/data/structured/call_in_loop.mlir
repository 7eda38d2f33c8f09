// A function that writes its argument, called in a loop.
// given: 3
func.func private @set(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %s = arith.constant 7.0 : f32
  %w = tensor.insert %s into %x[%i] : tensor<4xf32>
  return %w : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %w = func.call @set(%x, %i) : (tensor<4xf32>, index) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
