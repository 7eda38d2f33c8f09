// One of two blocks makes memory whose size is known there alone, the other one memory that is allocated in front of both.
// given: 1, 2
func.func @main(%first: index, %two: index) -> tensor<?xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %less = arith.cmpi slt, %first, %two : index
  cf.cond_br %less, ^one, ^other
^one:
  %size = arith.addi %first, %first : index
  %a = tensor.empty(%size) : tensor<?xi32>
  %b = linalg.fill ins(%zero : i32) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  cf.br ^join(%b : tensor<?xi32>)
^other:
  %c = tensor.empty() : tensor<2xi32>
  %d = linalg.fill ins(%one : i32) outs(%c : tensor<2xi32>) -> tensor<2xi32>
  %e = tensor.cast %d : tensor<2xi32> to tensor<?xi32>
  cf.br ^join(%e : tensor<?xi32>)
^join(%joined: tensor<?xi32>):
  return %joined : tensor<?xi32>
}
