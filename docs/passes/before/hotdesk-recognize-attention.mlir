// hotdesk-opt --hotdesk-recognize-attention
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>
#last = affine_map<(b, m, n) -> (m, n)>

func.func @masked(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x3xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %s = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}
