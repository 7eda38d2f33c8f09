// The first insertion of a thread writes what the second one reads.
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %r:2 = scf.forall (%i) = (0) to (4) step (2) shared_outs(%o = %f, %q = %d) -> (tensor<4xf32>, tensor<4xf32>) {
    %p = tensor.extract_slice %o[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p : tensor<2xf32>) outs(%p : tensor<2xf32>) {
    ^bb0(%oneb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %oneb : f32
      linalg.yield %sumb : f32
    } -> tensor<2xf32>
    %x = tensor.extract_slice %a[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %w into %q[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
