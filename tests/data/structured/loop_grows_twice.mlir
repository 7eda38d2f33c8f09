// A loop in a loop makes a tensor longer; what is yielded twice is written behind the loop.
// given: 2, 2
func.func @main(%x: tensor<?xi32> {hotdesk.donated}, %n: index) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %nine = arith.constant 9 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> (tensor<?xi32>, tensor<?xi32>) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %p) -> (tensor<?xi32>) {
      %d = tensor.dim %t, %c0 : tensor<?xi32>
      %m = arith.addi %d, %c1 : index
      %e = tensor.empty(%m) : tensor<?xi32>
      %f = linalg.fill ins(%seven : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
      %z = tensor.insert_slice %t into %f[1] [%d] [1] : tensor<?xi32> into tensor<?xi32>
      scf.yield %z : tensor<?xi32>
    }
    scf.yield %s, %s : tensor<?xi32>, tensor<?xi32>
  }
  %w = linalg.fill ins(%nine : i32) outs(%r#0 : tensor<?xi32>) -> tensor<?xi32>
  %v = scf.for %i = %c0 to %n step %c1 iter_args(%p = %r#1) -> (tensor<?xi32>) {
    %d = tensor.dim %p, %c0 : tensor<?xi32>
    %e = tensor.empty(%d) : tensor<?xi32>
    %f = linalg.fill ins(%seven : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
    scf.yield %f : tensor<?xi32>
  }
  return %w, %v, %r#1 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
