#id = affine_map<(d0) -> (d0)>
func.func private @rounded(%a: tensor<64xf32>) -> tensor<16xi32> {
  %s = tensor.extract_slice %a[0] [16] [1] : tensor<64xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<16xf32>) outs(%e : tensor<16xi32>) {
  ^bb0(%in: f32, %out: i32):
    %i = arith.fptosi %in : f32 to i32
    linalg.yield %i : i32
  } -> tensor<16xi32>
  return %r : tensor<16xi32>
}

func.func @main(%x: tensor<64xf32>) -> tensor<16xi32> {
  %e = tensor.empty() : tensor<64xf32>
  %y1 = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y2 = call @rounded(%y1) : (tensor<64xf32>) -> tensor<16xi32>
  %f = tensor.empty() : tensor<16xi32>
  %y3 = linalg.add ins(%y2, %y2 : tensor<16xi32>, tensor<16xi32>) outs(%f : tensor<16xi32>) -> tensor<16xi32>
  return %y3 : tensor<16xi32>
}
