// A result is the caller's to free, and an argument is not.
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32> // expected-error {{wrong owner}}
}
