// Only one branch writes, and the old value is read later.
// given: 1
func.func @main(%a: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
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
  %r = scf.if %c -> (tensor<4xf32>) {
    %w = tensor.insert %s into %f[%c1] : tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  } else {
    scf.yield %f : tensor<4xf32>
  }
  return %r, %f : tensor<4xf32>, tensor<4xf32>
}
