// A view is taken, the whole is overwritten, then the view is read.
func.func @main(%a: tensor<8xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<8xf32>
  %p = tensor.extract_slice %f[0] [4] [2] : tensor<8xf32> to tensor<4xf32>
  %x = tensor.expand_shape %f [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %w = linalg.fill ins(%s : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %q = tensor.extract_slice %w[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p, %q : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<2x4xf32>
}
