// A part of a buffer cannot be freed.
func.func @main() {
  %a = memref.alloc() : memref<8xf32> // expected-error {{leak}}
  %s = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.dealloc %s : memref<4xf32, strided<[1], offset: 4>> // expected-error {{invalid free}}
  return
}
