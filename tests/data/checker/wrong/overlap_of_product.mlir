// A product into one of its operands.
func.func @main(%x: memref<4x4xf32>, %w: memref<4x4xf32>) {
  linalg.matmul ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) // expected-error {{overlap}}
  return
}
