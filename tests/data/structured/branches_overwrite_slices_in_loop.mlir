// Branches overwrite slices of what comes round a loop.
// given: 0
func.func @main(%x: tensor<8xf32> {hotdesk.donated}, %k: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %l = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %x) -> tensor<8xf32> {
  %r = scf.if %k -> tensor<8xf32> {
    %b = tensor.extract_slice %t[%i][1][1] : tensor<8xf32> to tensor<1xf32>
    %1 = linalg.exp ins(%b : tensor<1xf32>) outs(%b : tensor<1xf32>) -> tensor<1xf32>
    %d = tensor.insert_slice %1 into %t[%i][1][1] : tensor<1xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  } else {
    %b = tensor.extract_slice %t[%i][1][1] : tensor<8xf32> to tensor<1xf32>
    %1 = linalg.log ins(%b : tensor<1xf32>) outs(%b : tensor<1xf32>) -> tensor<1xf32>
    %d = tensor.insert_slice %1 into %t[%i][1][1] : tensor<1xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
    scf.yield %r : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}
