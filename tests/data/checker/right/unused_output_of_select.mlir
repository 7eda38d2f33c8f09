// A value that nobody wrote is chosen against.
func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<2xf32>
  %f = memref.load %x[%c0] : memref<2xf32>
  memref.store %f, %a[%c0] : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    %v = memref.load %a[%i] : memref<2xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    %w = arith.select %first, %v, %f : f32
    memref.store %w, %y[%i] : memref<2xf32>
  }
  memref.dealloc %a : memref<2xf32>
  return
}
