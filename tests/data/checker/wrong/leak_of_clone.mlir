// A clone is an allocation like any other.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c = bufferization.clone %x : memref<4xf32> to memref<4xf32> // expected-error {{leak}}
  memref.copy %c, %y : memref<4xf32> to memref<4xf32>
  return
}
