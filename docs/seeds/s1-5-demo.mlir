#map = affine_map<(d0, d1) -> (0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (0, 0)>
func.func @main(%arg0: tensor<?x224xf32> {func.input_symbol_0 = "s0", func.input_symbol_1 = "c224"}) -> tensor<?x100xf32> attributes {entrance} {
  %cst = arith.constant 1.00000501 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<1x100xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<1x100xf32>
  %c0 = arith.constant 0 : index
  %cst_4 = arith.constant dense<[1, 100]> : tensor<2xi64>
  %cst_5 = arith.constant dense<0.25> : tensor<100xf32>
  %cst_6 = arith.constant dense<0.5> : tensor<224x100xf32>
  %dim = tensor.dim %arg0, %c0 : tensor<?x224xf32>
  %0 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<?x100xf32>) -> tensor<?x100xf32>
  %2 = linalg.matmul ins(%arg0, %cst_6 : tensor<?x224xf32>, tensor<224x100xf32>) outs(%1 : tensor<?x100xf32>) -> tensor<?x100xf32>
  %reshape = tensor.reshape %cst_5(%cst_4) : (tensor<100xf32>, tensor<2xi64>) -> tensor<1x100xf32>
  %3 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%reshape : tensor<1x100xf32>) outs(%3 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %5 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%5 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.addf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  %7 = bufferization.alloc_tensor() : tensor<100xf32>
  %8 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%7 : tensor<100xf32>) {
  ^bb0(%out: f32):
    linalg.yield %cst : f32
  } -> tensor<100xf32>
  %9 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<1x100xf32>) outs(%9 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %11 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<1x100xf32>) outs(%11 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %13 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<1x100xf32>) outs(%13 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %reshape_7 = tensor.reshape %8(%cst_4) : (tensor<100xf32>, tensor<2xi64>) -> tensor<1x100xf32>
  %15 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%reshape_7 : tensor<1x100xf32>) outs(%15 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %17 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %10 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%17 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.subf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  %19 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %12 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%19 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.mulf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  %21 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %22 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20, %16 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%21 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.divf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  %23 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %24 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22, %14 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%23 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.addf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  %25 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %26 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<1x1xf32>) outs(%25 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x100xf32>
  %27 = bufferization.alloc_tensor(%dim) : tensor<?x100xf32>
  %28 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%24, %26 : tensor<?x100xf32>, tensor<?x100xf32>) outs(%27 : tensor<?x100xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %29 = arith.maximumf %in, %in_8 : f32
    linalg.yield %29 : f32
  } -> tensor<?x100xf32>
  return %28 : tensor<?x100xf32>
}
