// The first op of a loop swaps its arguments, writing one; both are read behind.
// given: 3
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %in:2 = scf.for %j = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
      %p1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%p : tensor<4xf32>) {
      ^bb0(%u: f32):
        %s = arith.addf %two, %u : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %q, %p1 : tensor<4xf32>, tensor<4xf32>
    }
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%in#0 : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %v, %u : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %w2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%in#1 : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %v, %u : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %w, %w2 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
