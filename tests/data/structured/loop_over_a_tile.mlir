// A tile goes round a loop and is put back.
func.func @main(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %b = tensor.extract_slice %x[0][4][1] : tensor<8xf32> to tensor<4xf32>
  %1 = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %b) -> tensor<4xf32> {
    %z = linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  %d = tensor.insert_slice %1 into %x[0][4][1] : tensor<4xf32> into tensor<8xf32>
  return %d : tensor<8xf32>
}
