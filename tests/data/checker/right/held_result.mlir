// Results in the memory of arguments: not computed at all, copied there, in place while other memory takes turns with it.
// sizes: 4
func.func private @unchanged(%x: memref<4xf32> {hotdesk.holds = array<i64: 0>}, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %dead = memref.alloca() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%dead : memref<4xf32>)
  %r = scf.for %i = %c0 to %c0 step %n iter_args(%a = %x) -> memref<4xf32> {
    scf.yield %dead : memref<4xf32>
  }
  return
}
func.func private @copied(%x: memref<4xf32> {hotdesk.holds = array<i64: 0>}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %new = memref.alloca() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%new : memref<4xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> memref<4xf32> {
    scf.yield %new : memref<4xf32>
  }
  memref.copy %r, %x : memref<4xf32> to memref<4xf32>
  return
}
func.func private @in_turns(%x: memref<4xf32> {hotdesk.holds = array<i64: 0>}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %other = memref.alloca() : memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %other) -> (memref<4xf32>, memref<4xf32>) {
    linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
    scf.yield %b, %a : memref<4xf32>, memref<4xf32>
  }
  return
}
func.func @main(%x: memref<4xf32>, %n: index) {
  call @unchanged(%x, %n) : (memref<4xf32>, index) -> ()
  call @copied(%x, %n) : (memref<4xf32>, index) -> ()
  call @in_turns(%x, %n) : (memref<4xf32>, index) -> ()
  return
}
