// Each iteration reads what the next one overwrites: right in order, wrong at once.
func.func @main(%x: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %next = arith.addi %i, %c1 : index
    %v = memref.load %x[%next] : memref<9xf32>
    memref.store %v, %x[%i] : memref<9xf32> // expected-error {{race}}
  }
  return
}
