// Both branches overwrite the same slice.
// given: 0
func.func @main(%x: tensor<8xf32> {hotdesk.donated}, %k: i1) -> tensor<8xf32> {
  %r = scf.if %k -> tensor<8xf32> {
    %b = tensor.extract_slice %x[0][4][1] : tensor<8xf32> to tensor<4xf32>
    %1 = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %d = tensor.insert_slice %1 into %x[0][4][1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  } else {
    %b = tensor.extract_slice %x[0][4][1] : tensor<8xf32> to tensor<4xf32>
    %1 = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %d = tensor.insert_slice %1 into %x[0][4][1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// given: 0
