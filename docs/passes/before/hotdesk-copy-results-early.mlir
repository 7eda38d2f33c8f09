// hotdesk-opt --hotdesk-copy-results-early
func.func @main(%s: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.map { arith.addf } ins(%s, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %s, %n : tensor<8xf32>, tensor<8xf32>
}
