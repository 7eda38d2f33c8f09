// A function makes its argument longer, or gives it back as it came; its caller reads and writes both.
// given: 3, 2, 0
func.func private @grow(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (tensor<?xi32>) {
    %d = tensor.dim %p, %c0 : tensor<?xi32>
    %m = arith.addi %d, %c1 : index
    %e = tensor.empty(%m) : tensor<?xi32>
    %f = linalg.fill ins(%seven : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
    %z = tensor.insert_slice %p into %f[1] [%d] [1] : tensor<?xi32> into tensor<?xi32>
    scf.yield %z : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
func.func @main(%x: tensor<?xi32>, %n: index, %none: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %nine = arith.constant 9 : i32
  %a = func.call @grow(%x, %n) : (tensor<?xi32>, index) -> tensor<?xi32>
  %b = func.call @grow(%a, %none) : (tensor<?xi32>, index) -> tensor<?xi32>
  %c = linalg.fill ins(%nine : i32) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  %d = func.call @grow(%c, %n) : (tensor<?xi32>, index) -> tensor<?xi32>
  return %b, %d : tensor<?xi32>, tensor<?xi32>
}
