// A tensor enters a loop of blocks as an argument that stays, and as one that changes places with another, which is written.
// given: 1
func.func @main(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %u = arith.muli %a, %a : tensor<4xi32>
  cf.br ^head(%zero, %v, %v, %u : index, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
^head(%i: index, %z: tensor<4xi32>, %x: tensor<4xi32>, %y: tensor<4xi32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %one : index
  cf.br ^head(%j, %z, %y, %x : index, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
^end:
  %k = arith.constant 77 : i32
  %w = tensor.insert %k into %y[%zero] : tensor<4xi32>
  %s = arith.addi %w, %z : tensor<4xi32>
  return %z, %s : tensor<4xi32>, tensor<4xi32>
}
