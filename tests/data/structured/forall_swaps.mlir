// Threads swap parts of two tensors: the first insertion overwrites what the second one reads.
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %r:2 = scf.forall (%i) = (0) to (4) step (2) shared_outs(%p = %a, %q = %b) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %s = tensor.extract_slice %p[%i, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
    %t = tensor.extract_slice %q[%i, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %p[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
      tensor.parallel_insert_slice %s into %q[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
    }
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
}
