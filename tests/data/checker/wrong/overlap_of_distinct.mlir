// Operands that are said to be distinct are one buffer.
func.func @main(%x: memref<4xf32>) {
  %a = memref.cast %x : memref<4xf32> to memref<?xf32>
  %b = memref.cast %x : memref<4xf32> to memref<?xf32>
  %c, %d = memref.distinct_objects %a, %b : memref<?xf32>, memref<?xf32> // expected-error {{overlap}}
  return
}
