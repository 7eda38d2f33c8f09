// A cast to a size that the memref does not have.
// sizes: 5
func.func @main(%x: memref<?xf32>) {
  %a = memref.cast %x : memref<?xf32> to memref<4xf32> // expected-error {{wrong shape}}
  return
}
