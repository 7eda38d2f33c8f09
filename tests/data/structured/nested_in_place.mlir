// Two loops that write element by element.
// given: 4
func.func @main(%a: tensor<3x4xf32>, %n: index) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<3x4xf32>) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<3x4xf32>) {
      %v = tensor.extract %y[%i, %j] : tensor<3x4xf32>
      %t = arith.addf %v, %s : f32
      %w = tensor.insert %t into %y[%i, %j] : tensor<3x4xf32>
      scf.yield %w : tensor<3x4xf32>
    }
    scf.yield %q : tensor<3x4xf32>
  }
  return %r : tensor<3x4xf32>
}
