// The buffer is freed while a slice of it is still wanted.
func.func @main(%x: memref<8xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %s = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.dealloc %a : memref<8xf32>
  memref.copy %s, %y : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32> // expected-error {{use after free}}
  return
}
