// Both results are one tensor that the loop made, and one is written afterwards.
// given: 2
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %other: f32, %old: f32):
      %sum = arith.addf %one, %other : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
    scf.yield %w, %w : tensor<4xf32>, tensor<4xf32>
  }
  %t = tensor.insert %s into %r#0[%c3] : tensor<4xf32>
  return %t, %r#1 : tensor<4xf32>, tensor<4xf32>
}
