// hotdesk-opt --hotdesk-hoist-invariants
#whole = affine_map<(c, i) -> (c, i)>
#pixel = affine_map<(c, i) -> (i)>
func.func @log_softmax(%x: tensor<16x4096xf32>, %t: tensor<4096xf32>) -> tensor<16x4096xf32> {
  %d = tensor.empty() : tensor<4096xf32>
  %s = linalg.exp ins(%t : tensor<4096xf32>) outs(%d : tensor<4096xf32>) -> tensor<4096xf32>
  %e = tensor.empty() : tensor<16x4096xf32>
  %y = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<16x4096xf32>, tensor<4096xf32>) outs(%e : tensor<16x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<16x4096xf32>
  return %y : tensor<16x4096xf32>
}
