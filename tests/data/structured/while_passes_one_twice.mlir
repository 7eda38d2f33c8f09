// Both results of a while loop are one tensor, and one is written afterwards.
// given: 2
func.func @main(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r:3 = scf.while (%i = %c0, %x = %a) : (index, tensor<4xf32>) -> (index, tensor<4xf32>, tensor<4xf32>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %x, %x : index, tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%i: index, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %j = arith.addi %i, %c1 : index
    %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%one: f32, %other: f32, %old: f32):
      %sum = arith.addf %one, %other : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
    scf.yield %j, %w : index, tensor<4xf32>
  }
  %t = tensor.insert %s into %r#1[%c3] : tensor<4xf32>
  return %t, %r#2 : tensor<4xf32>, tensor<4xf32>
}
