// One branch allocates; who owns the buffer is decided at run time.
func.func @main(%p: i1, %x: memref<4xf32>, %y: memref<4xf32>) {
  %true = arith.constant true
  %false = arith.constant false
  %r, %owned = scf.if %p -> (memref<4xf32>, i1) {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a, %true : memref<4xf32>, i1
  } else {
    scf.yield %x, %false : memref<4xf32>, i1
  }
  memref.copy %r, %y : memref<4xf32> to memref<4xf32>
  scf.if %owned {
    memref.dealloc %r : memref<4xf32>
  }
  return
}
