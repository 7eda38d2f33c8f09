// hotdesk-opt --hotdesk-one-shot-bufferize
func.func @main(%x: tensor<8xf32>, %c: f32, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %b = tensor.insert %c into %a[%n] : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
