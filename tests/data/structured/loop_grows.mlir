// A tensor is longer after each iteration, and one that went in comes out if there is none.
// given: 3, 2
func.func @main(%x: tensor<?xi32>, %n: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> (tensor<?xi32>, tensor<?xi32>) {
    %d = tensor.dim %p, %c0 : tensor<?xi32>
    %m = arith.addi %d, %c1 : index
    %e = tensor.empty(%m) : tensor<?xi32>
    %f = linalg.fill ins(%seven : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
    %z = tensor.insert_slice %p into %f[1] [%d] [1] : tensor<?xi32> into tensor<?xi32>
    scf.yield %z, %p : tensor<?xi32>, tensor<?xi32>
  }
  return %r#0, %r#1 : tensor<?xi32>, tensor<?xi32>
}
