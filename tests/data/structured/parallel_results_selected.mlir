// One of two results of a parallel loop is chosen; both are made at one time, so they cannot share memory.
// given: 5, 7, 1
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>, %c: i32, %d: i32, %b: i1) -> tensor<4xi32> {
  %r:2 = scf.forall (%i) in (2) shared_outs(%p = %x, %q = %y) -> (tensor<4xi32>, tensor<4xi32>) {
    %e = tensor.empty() : tensor<1xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<1xi32>) -> tensor<1xi32>
    %g = linalg.fill ins(%d : i32) outs(%e : tensor<1xi32>) -> tensor<1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %p[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
      tensor.parallel_insert_slice %g into %q[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
    }
  }
  %s = arith.select %b, %r#0, %r#1 : tensor<4xi32>
  return %s : tensor<4xi32>
}
