// A while loop on what it carries, ended by its contents.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %most = arith.constant 20.0 : f32
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = scf.while (%x = %k) : (tensor<4xf32>) -> tensor<4xf32> {
    %v = tensor.extract %x[%c1] : tensor<4xf32>
    %c = arith.cmpf olt, %v, %most : f32
    scf.condition(%c) %x : tensor<4xf32>
  } do {
  ^bb0(%x: tensor<4xf32>):
    %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%one: f32, %other: f32, %old: f32):
      %sum = arith.addf %one, %other : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%r, %a : tensor<4xf32>, tensor<4xf32>) outs(%r : tensor<4xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<4xf32>
  return %t : tensor<4xf32>
}
