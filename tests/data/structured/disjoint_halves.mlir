// Two halves of a tensor are computed from one another's old value and put back.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<8xf32>
  %p = tensor.extract_slice %w[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %q = tensor.extract_slice %w[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p, %q : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<4xf32>
  %t = tensor.insert_slice %x into %w[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%q : tensor<4xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%onec: f32, %oldc: f32):
      %sumc = arith.addf %onec, %onec : f32
      linalg.yield %sumc : f32
    } -> tensor<4xf32>
  %r = tensor.insert_slice %y into %t[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
