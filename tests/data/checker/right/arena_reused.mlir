// Two buffers of an arena take turns in the same bytes.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %arena = memref.alloc() {alignment = 64 : i64, hotdesk.arena} : memref<32xi8>
  %a = memref.view %arena[%c0][] : memref<32xi8> to memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.view %arena[%c16][] : memref<32xi8> to memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  %c = memref.view %arena[%c0][] : memref<32xi8> to memref<4xf32>
  linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
  linalg.add ins(%b, %c : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  memref.dealloc %arena : memref<32xi8>
  return
}
