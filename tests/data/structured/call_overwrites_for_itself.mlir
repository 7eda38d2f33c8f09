// A function that may overwrite its argument for itself alone: its result does not lie there. Called with what is read later, what
// is not, and twice with one tensor.
func.func private @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %p = arith.addf %one, %old : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%y : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %p = arith.mulf %one, %old : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%v : tensor<4xf32>) outs(%f : tensor<f32>) {
    ^bb0(%one: f32, %old: f32):
      %p = arith.addf %one, %old : f32
      linalg.yield %p : f32
    } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>) {
  %s = arith.constant 3.0 : f32
  %t = arith.constant 5.0 : f32
  %b = tensor.splat %s : tensor<4xf32>
  %c = tensor.splat %t : tensor<4xf32>
  %p = func.call @sum(%b, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %q = func.call @sum(%c, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %r = func.call @sum(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %p, %q, %r, %b : tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
}
