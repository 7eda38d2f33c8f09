// The operands of a structured op do not agree.
// sizes: 4, 5
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) // expected-error {{wrong shape}}
  return
}
