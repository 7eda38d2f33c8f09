// An arena that is an argument is aligned as it says.
func.func @main(%x: memref<4xf32>, %arena: memref<64xi8> {hotdesk.arena = 256 : i64}, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.assume_alignment %a, 256 : memref<4xf32>
  memref.copy %b, %y : memref<4xf32> to memref<4xf32>
  return
}
