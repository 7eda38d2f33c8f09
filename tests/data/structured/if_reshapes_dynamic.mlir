// The same with sizes that are not static: rows and columns change places, so one memref type stands for two shapes.
// given: 2, 3, 3, 2, 1
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: i1) -> tensor<3x2xf32> {
  %k = arith.constant 3.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %all = arith.muli %m, %n : index
  %r = scf.if %c -> (tensor<?x?xf32>) {
    %e = tensor.empty(%all) : tensor<?xf32>
    %f = linalg.fill ins(%k : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %s = tensor.expand_shape %f [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
    scf.yield %s : tensor<?x?xf32>
  } else {
    %e = tensor.empty(%n, %m) : tensor<?x?xf32>
    %t = linalg.add ins(%b, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.yield %t : tensor<?x?xf32>
  }
  %s = tensor.cast %r : tensor<?x?xf32> to tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %u = linalg.add ins(%s, %s : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %u : tensor<3x2xf32>
}
