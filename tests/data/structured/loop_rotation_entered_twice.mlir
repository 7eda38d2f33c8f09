// Two arguments that enter a loop with one tensor change places with a third one, whose memory is written behind the loop.
// given: 1
func.func @main(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%x = %v, %y = %v, %z = %a)
      -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    scf.yield %y, %z, %x : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  %w = linalg.add ins(%a, %r#2 : tensor<4xi32>, tensor<4xi32>) outs(%r#2 : tensor<4xi32>) -> tensor<4xi32>
  return %r#0, %w : tensor<4xi32>, tensor<4xi32>
}
