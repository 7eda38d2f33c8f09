// hotdesk-opt --hotdesk-reorder-for-peak
func.func @main(%x: tensor<64xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %n = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %b = linalg.map { math.tanh } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %p = tensor.extract_slice %a[0] [4] [1] : tensor<64xf32> to tensor<4xf32>
  %c = linalg.map { math.exp } ins(%p : tensor<4xf32>) outs(%n : tensor<4xf32>)
  %q = tensor.extract_slice %b[0] [4] [1] : tensor<64xf32> to tensor<4xf32>
  %d = linalg.map { math.exp } ins(%q : tensor<4xf32>) outs(%n : tensor<4xf32>)
  %r = linalg.map { arith.addf } ins(%c, %d : tensor<4xf32>, tensor<4xf32>) outs(%n : tensor<4xf32>)
  return %r : tensor<4xf32>
}
