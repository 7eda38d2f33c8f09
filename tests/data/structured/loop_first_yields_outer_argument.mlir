// The first op of a loop is a loop that yields the outer one's argument, which is overwritten behind.
// given: 2
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %y = scf.for %j = %c0 to %n step %c1 iter_args(%z = %x) -> (tensor<4xf32>) {
      scf.yield %x : tensor<4xf32>
    }
    %w = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
    ^bb0(%q: f32):
      %s = arith.addf %two, %q : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, #id], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %two : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %new : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
