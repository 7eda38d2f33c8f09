// What enters a loop is an argument or new memory; what comes round is new each time, and two of the loop's arguments get it.
// given: 4, 0, 1, 3
func.func @main(%a: tensor<?xi32>, %k0: index, %k1: index, %k3: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %one = arith.constant 1 : i32
  %c = arith.cmpi slt, %k0, %k1 : index
  %either = scf.if %c -> (tensor<?xi32>) {
    scf.yield %a : tensor<?xi32>
  } else {
    %more = tensor.insert %one into %a[%k0] : tensor<?xi32>
    scf.yield %more : tensor<?xi32>
  }
  %r:2 = scf.for %i = %k0 to %k3 step %k1 iter_args(%p = %either, %q = %either) -> (tensor<?xi32>, tensor<?xi32>) {
    %n = arith.addi %i, %k3 : index
    %e = tensor.empty(%n) : tensor<?xi32>
    %f = linalg.fill ins(%one : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
    scf.yield %f, %f : tensor<?xi32>, tensor<?xi32>
  }
  return %r#0, %r#1 : tensor<?xi32>, tensor<?xi32>
}
