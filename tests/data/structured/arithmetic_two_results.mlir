// An op with two results.
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %a, %b = arith.mulsi_extended %x, %y : tensor<4xi32>
  return %a, %b : tensor<4xi32>, tensor<4xi32>
}
