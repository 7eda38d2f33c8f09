// hotdesk-opt --hotdesk-linalg-bufferize
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>)
  return %r : tensor<8xf32>
}
