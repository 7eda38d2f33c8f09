// A buffer is never freed.
func.func @main(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32> // expected-error {{leak}}
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  return
}
