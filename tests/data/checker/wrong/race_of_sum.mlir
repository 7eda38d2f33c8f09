// Iterations add to one element without being atomic.
func.func @main(%x: memref<8xf32>, %sum: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %v = memref.load %x[%i] : memref<8xf32>
    %old = memref.load %sum[] : memref<f32> // expected-error {{race}}
    %new = arith.addf %old, %v : f32
    memref.store %new, %sum[] : memref<f32> // expected-error {{race}}
  }
  return
}
