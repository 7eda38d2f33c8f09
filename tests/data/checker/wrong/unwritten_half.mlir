// Only the first half was written; a copy hands the rest on, and the sum uses it.
func.func @main(%x: memref<4xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %s = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.copy %x, %s : memref<4xf32> to memref<4xf32, strided<[1]>>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  linalg.add ins(%b, %b : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) // expected-error {{read of memory nobody wrote}}
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}
