// An inner loop copies an argument of the outer one into memory that the outer one passes on: each iteration has its own.
// given: 1
func.func @main(%a: tensor<4xi32> {hotdesk.donated}, %b: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = arith.constant 5 : i32
  %t = arith.constant -2 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%s : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = scf.for %i = %zero to %two step %one iter_args(%x = %a, %y = %f) -> (tensor<4xi32>, tensor<4xi32>) {
    %new = linalg.fill ins(%t : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
    %k = scf.for %j = %zero to %n step %one iter_args(%z = %new) -> (tensor<4xi32>) {
      scf.yield %y : tensor<4xi32>
    }
    scf.yield %y, %k : tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
