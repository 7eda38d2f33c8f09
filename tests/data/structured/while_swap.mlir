// The arguments of the condition change places, and the body writes one.
// given: 3
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r:3 = scf.while (%i = %c0, %x = %a, %y = %b) : (index, tensor<4xf32>, tensor<4xf32>) -> (index, tensor<4xf32>, tensor<4xf32>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %y, %x : index, tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%i: index, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %j = arith.addi %i, %c1 : index
    %w = tensor.insert %s into %x[%i] : tensor<4xf32>
    scf.yield %j, %y, %w : index, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
}
