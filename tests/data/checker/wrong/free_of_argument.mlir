// An argument is the caller's.
func.func @main(%x: memref<4xf32>) {
  memref.dealloc %x : memref<4xf32> // expected-error {{invalid free}}
  return
}
