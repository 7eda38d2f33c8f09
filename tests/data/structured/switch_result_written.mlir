// One way of a switch yields an argument, and the result is written.
// given: 1
func.func @main(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r = scf.index_switch %n -> tensor<4xf32>
  case 1 {
    scf.yield %a : tensor<4xf32>
  }
  default {
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  %w = tensor.insert %s into %r[%c0] : tensor<4xf32>
  return %w, %a : tensor<4xf32>, tensor<4xf32>
}
