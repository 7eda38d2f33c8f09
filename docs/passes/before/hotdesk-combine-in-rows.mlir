// hotdesk-opt --hotdesk-combine-in-rows="least-bytes=64 least-part=64"
func.func @main(%a: tensor<4x2xf32>, %w: tensor<8x2xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %l = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<4x2xf32>, tensor<8x2xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %x = linalg.map { math.exp } ins(%l : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<4x2xf32>, tensor<8x2xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
  return %r : tensor<4x8xf32>
}
