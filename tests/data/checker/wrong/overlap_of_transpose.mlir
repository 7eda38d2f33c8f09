// A transposition in place reads what it has overwritten.
func.func @main(%x: memref<4x4xf32>) {
  linalg.transpose ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) permutation = [1, 0] // expected-error {{overlap}}
  return
}
