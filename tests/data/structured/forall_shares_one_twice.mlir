// A parallel loop makes two tensors of one that it may overwrite: one of both is a copy.
// given: 5, 7
func.func @main(%x: tensor<4xi32> {hotdesk.donated}, %c: i32, %d: i32) -> (tensor<4xi32>, tensor<4xi32>) {
  %r:2 = scf.forall (%i) in (4) shared_outs(%a = %x, %b = %x) -> (tensor<4xi32>, tensor<4xi32>) {
    %e = tensor.empty() : tensor<1xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<1xi32>) -> tensor<1xi32>
    %g = linalg.fill ins(%d : i32) outs(%e : tensor<1xi32>) -> tensor<1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %a[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
      tensor.parallel_insert_slice %g into %b[%i] [1] [1] : tensor<1xi32> into tensor<4xi32>
    }
  }
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
