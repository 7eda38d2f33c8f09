// A tensor enters a loop as an argument that stays, and as one that changes places with another, which is written behind the loop.
// given: 1
func.func @main(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %u = arith.muli %a, %a : tensor<4xi32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%z = %v, %x = %v, %y = %u)
      -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    scf.yield %z, %y, %x : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  %w = linalg.add ins(%a, %r#2 : tensor<4xi32>, tensor<4xi32>) outs(%r#2 : tensor<4xi32>) -> tensor<4xi32>
  return %r#0, %w : tensor<4xi32>, tensor<4xi32>
}
