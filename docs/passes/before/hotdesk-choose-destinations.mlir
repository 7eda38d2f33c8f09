// hotdesk-opt --hotdesk-choose-destinations
func.func @main(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %d = tensor.empty() : tensor<8xf32>
  %r = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%d : tensor<8xf32>)
  return %r : tensor<8xf32>
}
