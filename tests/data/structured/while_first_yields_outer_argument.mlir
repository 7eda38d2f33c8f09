// The first op of a loop is a while that yields the outer one's argument, which is overwritten behind.
// given: 3
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %in:2 = scf.while (%z = %x, %j = %c0) : (tensor<4xf32>, index) -> (tensor<4xf32>, index) {
      %c = arith.cmpi slt, %j, %n : index
      scf.condition(%c) %z, %j : tensor<4xf32>, index
    } do {
    ^bb0(%zz: tensor<4xf32>, %jj: index):
      %jn = arith.addi %jj, %c1 : index
      scf.yield %x, %jn : tensor<4xf32>, index
    }
    %w = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
    ^bb0(%u: f32):
      %s = arith.addf %two, %u : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %w, %in#0 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
