// An arena that is outside of a loop gives each of its threads the same bytes.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %arena = memref.alloc() {alignment = 64 : i64, hotdesk.arena} : memref<64xi8>
  scf.forall (%i) in (4) {
    %t = memref.view %arena[%c0][] : memref<64xi8> to memref<f32>
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %t[] : memref<f32> // expected-error {{race}}
    %w = memref.load %t[] : memref<f32> // expected-error {{race}}
    memref.store %w, %y[%i] : memref<4xf32>
  }
  memref.dealloc %arena : memref<64xi8>
  return
}
