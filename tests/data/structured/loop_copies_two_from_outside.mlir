// Two arguments of a loop begin as one tensor, and each iteration hands them tensors from outside: two copies, two buffers.
// given: 0, 2
func.func @main(%x: tensor<3xi32>, %y: tensor<3xi32>, %from: index, %to: index) -> (tensor<3xi32>, tensor<3xi32>) {
  %c1 = arith.constant 1 : index
  %eight = arith.constant 8 : i32
  %e = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%eight : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = scf.for %i = %from to %to step %c1 iter_args(%p = %f, %q = %f) -> (tensor<3xi32>, tensor<3xi32>) {
    scf.yield %x, %y : tensor<3xi32>, tensor<3xi32>
  }
  return %r#0, %r#1 : tensor<3xi32>, tensor<3xi32>
}
