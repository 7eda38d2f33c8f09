// hotdesk-opt --hotdesk-annotate-in-place
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>)
  %r = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%x : tensor<8xf32>)
  return %r : tensor<8xf32>
}
