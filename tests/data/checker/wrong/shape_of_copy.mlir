// A copy between memrefs whose dynamic sizes differ.
// sizes: 4, 5
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  memref.copy %x, %y : memref<?xf32> to memref<?xf32> // expected-error {{wrong shape}}
  return
}
