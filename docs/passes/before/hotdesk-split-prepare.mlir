// hotdesk-opt --hotdesk-split-prepare
func.func @main(%x: tensor<4xf32> {hotdesk.kind = "input"}, %w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}
