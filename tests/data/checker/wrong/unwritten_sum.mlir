// A sum into memory that was not filled.
func.func @main(%x: memref<2x3xf32>, %w: memref<3x4xf32>) -> memref<2x4xf32> {
  %a = memref.alloc() : memref<2x4xf32>
  linalg.matmul ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%a : memref<2x4xf32>) // expected-error {{read of memory nobody wrote}}
  return %a : memref<2x4xf32>
}
