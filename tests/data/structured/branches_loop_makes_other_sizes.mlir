// A loop of blocks in which a tensor of a size that is not known to be the same takes the place of an argument.
// given: 4, 0, 1, 2
func.func private @f(%x: tensor<?xi32>, %a: tensor<?xi32>, %k1: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %n = arith.constant -5 : i32
  %v15 = linalg.fill ins(%n : i32) outs(%x : tensor<?xi32>) -> tensor<?xi32>
  cf.br ^bb1(%zero, %v15, %a, %a : index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
^bb1(%i: index, %t: tensor<?xi32>, %u: tensor<?xi32>, %w: tensor<?xi32>):
  %c = arith.cmpi slt, %i, %one : index
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %j = arith.addi %i, %k1 : index
  %e = bufferization.alloc_tensor(%four) : tensor<?xi32>
  %f = linalg.fill ins(%n : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  cf.br ^bb1(%j, %f, %a, %a : index, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
^bb3:
  return %a, %t : tensor<?xi32>, tensor<?xi32>
}
func.func @main(%a0: tensor<?xi32>, %k0: index, %k1: index, %k2: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %four = arith.constant 4 : index
  %z = arith.constant 3 : i32
  %e = bufferization.alloc_tensor(%four) : tensor<?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = func.call @f(%f, %f, %k1) : (tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xi32>, tensor<?xi32>
}
