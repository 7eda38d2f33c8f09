// What is returned may be what a branch of blocks chose, and is an argument here: what was chosen is not copied for that.
// given: 0, 1, 0
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xi32>, %k0: index, %k1: index, %k2: index) -> tensor<4xi32> {
  %one = arith.constant 1 : i32
  %0 = arith.cmpi eq, %k0, %k1 : index
  %e = tensor.empty() : tensor<4xi32>
  cf.cond_br %0, ^bb2, ^bb1(%c : tensor<4xi32>)
^bb2:
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  cf.br ^bb1(%f : tensor<4xi32>)
^bb1(%3: tensor<4xi32>):
  %4 = arith.cmpi eq, %k0, %k2 : index
  %5 = scf.if %4 -> (tensor<4xi32>) {
    scf.yield %a : tensor<4xi32>
  } else {
    %d = arith.cmpi sge, %k1, %k2 : index
    %9 = arith.select %d, %3, %b : tensor<4xi32>
    scf.yield %9 : tensor<4xi32>
  }
  return %5 : tensor<4xi32>
}
