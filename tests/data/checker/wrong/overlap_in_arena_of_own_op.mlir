// The target of a transposition lies where its source lies, as another buffer of the arena.
func.func @main(%x: memref<3x3xf32>, %y: memref<3x3xf32>) {
  %c0 = arith.constant 0 : index
  %arena = memref.alloc() {alignment = 64 : i64, hotdesk.arena} : memref<64xi8>
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<3x3xf32>
  linalg.exp ins(%x : memref<3x3xf32>) outs(%a : memref<3x3xf32>)
  %b = memref.view %arena[%c0][] : memref<64xi8> to memref<3x3xf32>
  linalg.transpose ins(%a : memref<3x3xf32>) outs(%b : memref<3x3xf32>) permutation = [1, 0] // expected-error {{overlap}}
  memref.copy %b, %y : memref<3x3xf32> to memref<3x3xf32>
  memref.dealloc %arena : memref<64xi8>
  return
}
