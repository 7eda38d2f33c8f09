// hotdesk-opt --hotdesk-split-rows="least-bytes=64"
func.func @main(%x: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %h = linalg.map { math.exp } ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
  %r = linalg.reduce { arith.addf } ins(%h : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
