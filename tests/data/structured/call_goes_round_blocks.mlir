// A function gives back its argument, or a tensor that a block brings in new memory.
// given: 2
func.func private @round(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4xi32>)
^head(%i: index, %p: tensor<4xi32>):
  %b = arith.cmpi slt, %i, %n : index
  cf.cond_br %b, ^body, ^end
^body:
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %y : index, tensor<4xi32>)
^end:
  return %p : tensor<4xi32>
}
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = func.call @round(%f, %y, %n) : (tensor<4xi32>, tensor<4xi32>, index) -> tensor<4xi32>
  %s = arith.addi %r, %y : tensor<4xi32>
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}
