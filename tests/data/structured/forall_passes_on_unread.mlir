// In a parallel loop, a tensor that the iterations overwrite part by part enters another loop, in which nobody reads it.
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%two : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %f) -> (tensor<4xi32>) {
    %s = tensor.extract_slice %a[%i] [1] [1] : tensor<4xi32> to tensor<1xi32>
    %unread = scf.for %j = %zero to %one step %one iter_args(%t = %f) -> (tensor<4xi32>) {
      %new = tensor.empty() : tensor<4xi32>
      %g = linalg.fill ins(%two : i32) outs(%new : tensor<4xi32>) -> tensor<4xi32>
      scf.yield %g : tensor<4xi32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
    }
  }
  return %r : tensor<4xi32>
}
