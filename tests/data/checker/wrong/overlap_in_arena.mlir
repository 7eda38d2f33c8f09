// Two buffers of an arena share bytes while both are wanted.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %arena = memref.alloc() {alignment = 64 : i64, hotdesk.arena} : memref<32xi8>
  %a = memref.view %arena[%c0][] : memref<32xi8> to memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.view %arena[%c8][] : memref<32xi8> to memref<4xf32>
  linalg.log ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
  linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>) // expected-error {{overlap}}
  memref.dealloc %arena : memref<32xi8>
  return
}
