// A slice of a slice is overwritten and put back twice: all in the argument's memory.
func.func @main(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = tensor.extract_slice %x[0][4][1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %a[2][2][1] : tensor<4xf32> to tensor<2xf32>
  %1 = linalg.exp ins(%b : tensor<2xf32>) outs(%b : tensor<2xf32>) -> tensor<2xf32>
  %c = tensor.insert_slice %1 into %a[2][2][1] : tensor<2xf32> into tensor<4xf32>
  %d = tensor.insert_slice %c into %x[0][4][1] : tensor<4xf32> into tensor<8xf32>
  return %d : tensor<8xf32>
}
