// A choice between the results of two branches, each of which chooses on its own.
// given: 1
func.func @main(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 7.0 : f32
  %p = arith.cmpi eq, %n, %c1 : index
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = scf.if %p -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %g = scf.if %p -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  %q = arith.cmpi sge, %n, %c0 : index
  %r = arith.select %q, %f, %g : tensor<4xf32>
  %w = tensor.insert %s into %r[%c0] : tensor<4xf32>
  return %w, %a : tensor<4xf32>, tensor<4xf32>
}
