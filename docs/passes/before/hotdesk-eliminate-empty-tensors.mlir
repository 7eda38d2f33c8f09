// hotdesk-opt --hotdesk-eliminate-empty-tensors
func.func @main(%x: tensor<4xf32>, %d: tensor<10xf32>) -> tensor<10xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
