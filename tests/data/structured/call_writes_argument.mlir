// A function writes its argument, which is read behind the first call and dead behind the second.
func.func private @set(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %s = arith.constant 7.0 : f32
  %w = tensor.insert %s into %x[%i] : tensor<4xf32>
  return %w : tensor<4xf32>
}
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
  %p = func.call @set(%f, %c0) : (tensor<4xf32>, index) -> tensor<4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p, %f : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<4xf32>
  %q = func.call @set(%f, %c2) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %v, %q : tensor<4xf32>, tensor<4xf32>
}
