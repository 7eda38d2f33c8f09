// A tensor is put into a place of its own, of which the rest is kept.
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  %p = tensor.extract_slice %b[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %m = bufferization.materialize_in_destination %f in %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %m into %b[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
