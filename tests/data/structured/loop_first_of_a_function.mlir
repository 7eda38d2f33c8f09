// A loop before everything else in a function yields its argument, which is overwritten behind.
// given: 2, 0, 1, 2
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xf32> {hotdesk.donated}, %n: index, %c0: index, %c1: index, %two: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = scf.for %j = %c0 to %n step %c1 iter_args(%z = %a) -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  }
  %w = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
  ^bb0(%q: f32):
    %s = arith.addf %two, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %w : tensor<4xf32>, tensor<4xf32>
}
