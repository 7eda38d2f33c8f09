// hotdesk-opt --hotdesk-use-inplace-calls
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { math.exp } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.map { arith.addf } ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %r = call @f(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
