#id = affine_map<(i) -> (i)>

func.func @tensor_no_alias(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %init1 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%arg0 : tensor<4xf32>) outs(%init1 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %add = arith.addf %in, %in : f32
    linalg.yield %add : f32
  } -> tensor<4xf32>
  %init2 = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : tensor<4xf32>) outs(%init2 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %mul = arith.mulf %in, %in : f32
    linalg.yield %mul : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
