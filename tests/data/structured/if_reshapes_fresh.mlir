// One branch yields what it computed with other dimensions; both lie in one buffer.
// given: 1
func.func @main(%a: tensor<2x4xf32>, %c: i1) -> tensor<2x4xf32> {
  %k = arith.constant 3.0 : f32
  %r = scf.if %c -> (tensor<2x4xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%k : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = tensor.expand_shape %f [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
    scf.yield %s : tensor<2x4xf32>
  } else {
    %e = tensor.empty() : tensor<2x4xf32>
    %t = linalg.add ins(%a, %a : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %t : tensor<2x4xf32>
  }
  %e = tensor.empty() : tensor<2x4xf32>
  %s = linalg.add ins(%r, %a : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}
