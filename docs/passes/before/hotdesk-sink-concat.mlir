// hotdesk-opt --hotdesk-sink-concat
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<2xf32>, %b: tensor<6xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<6xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
