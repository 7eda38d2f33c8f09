// One thread frees what the others read; in order it happens to be the last.
func.func @main(%y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %t = memref.alloc() : memref<1xf32>
  memref.store %one, %t[%c0] : memref<1xf32>
  scf.forall (%i) in (4) {
    %v = memref.load %t[%c0] : memref<1xf32>
    memref.store %v, %y[%i] : memref<4xf32>
    %last = arith.cmpi eq, %i, %c3 : index
    scf.if %last {
      memref.dealloc %t : memref<1xf32> // expected-error {{race}}
    }
  }
  return
}
