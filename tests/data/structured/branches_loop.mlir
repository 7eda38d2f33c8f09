// A loop of branches whose tensors change places.
// given: 3
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  cf.br ^head(%c0, %a, %b : index, tensor<4xf32>, tensor<4xf32>)
^head(%i: index, %x: tensor<4xf32>, %y: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^end
^body:
  %w = tensor.insert %s into %x[%i] : tensor<4xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %y, %w : index, tensor<4xf32>, tensor<4xf32>)
^end:
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}
