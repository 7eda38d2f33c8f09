func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<?xf32> {
  %k = arith.constant dense<1.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = linalg.add ins(%x, %k : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %2 = tensor.cast %0 : tensor<4xf32> to tensor<?xf32>
  return %2 : tensor<?xf32>
}
