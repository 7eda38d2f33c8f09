// hotdesk-opt --hotdesk-buffer-loop-hoisting
func.func @main(%x: memref<2xf32>, %out: memref<2xf32>, %lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    %0 = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%0 : memref<2xf32>)
    linalg.map { arith.addf } ins(%0, %out : memref<2xf32>, memref<2xf32>) outs(%out : memref<2xf32>)
    memref.dealloc %0 : memref<2xf32>
  }
  return
}
