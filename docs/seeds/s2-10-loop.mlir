func.func private @use(memref<2xf32>)

func.func @loop(%lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    %0 = memref.alloc() : memref<2xf32>
    func.call @use(%0) : (memref<2xf32>) -> ()
    memref.dealloc %0 : memref<2xf32>
  }
  return
}
