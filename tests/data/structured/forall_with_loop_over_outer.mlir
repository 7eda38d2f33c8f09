// Each thread carries a tensor from outside through a loop that writes it.
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = arith.constant 7.0 : f32
  %t = arith.constant 2.0 : f32
  %x = tensor.splat %s : tensor<4xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %v = scf.for %j = %c0 to %c2 step %c1 iter_args(%y = %x) -> (tensor<4xf32>) {
      %p = tensor.extract %y[%j] : tensor<4xf32>
      %q = arith.mulf %p, %t : f32
      %w = tensor.insert %q into %y[%j] : tensor<4xf32>
      scf.yield %w : tensor<4xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
