// One branch computes the result in new memory, the other one in place.
// sizes: 7
func.func @main(%x: memref<4xf32> {hotdesk.donated, hotdesk.holds = array<i64: 0>}, %n: index) {
  %one = arith.constant 1.0 : f32
  %c4 = arith.constant 4 : index
  %small = arith.cmpi slt, %n, %c4 : index
  %r = scf.if %small -> memref<4xf32> {
    linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
    scf.yield %x : memref<4xf32>
  } else {
    %y = memref.alloca() : memref<4xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
    scf.yield %y : memref<4xf32>
  }
  return // expected-error {{misplaced result}}
}
