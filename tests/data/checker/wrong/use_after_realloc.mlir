// The old buffer is gone once it was reallocated.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.realloc %a : memref<4xf32> to memref<8xf32>
  memref.copy %a, %y : memref<4xf32> to memref<4xf32> // expected-error {{use after free}}
  memref.dealloc %b : memref<8xf32>
  return
}
