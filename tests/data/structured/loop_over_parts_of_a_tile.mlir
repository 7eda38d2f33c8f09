// A loop over parts of a tile.
func.func @main(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = tensor.extract_slice %x[2][4][1] : tensor<8xf32> to tensor<4xf32>
  %r = scf.for %i = %c0 to %c4 step %c2 iter_args(%t = %a) -> tensor<4xf32> {
    %b = tensor.extract_slice %t[%i][2][1] : tensor<4xf32> to tensor<2xf32>
    %1 = linalg.exp ins(%b : tensor<2xf32>) outs(%b : tensor<2xf32>) -> tensor<2xf32>
    %d = tensor.insert_slice %1 into %t[%i][2][1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  %d = tensor.insert_slice %r into %x[2][4][1] : tensor<4xf32> into tensor<8xf32>
  return %d : tensor<8xf32>
}
