// Expanded, collapsed, reshaped and transposed.
func.func @main(%x: memref<4x6xf32>, %y: memref<24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : memref<4x6xf32> into memref<2x2x6xf32>
  %c = memref.collapse_shape %e [[0, 1, 2]] : memref<2x2x6xf32> into memref<24xf32>
  memref.copy %c, %y : memref<24xf32> to memref<24xf32>
  %shape = memref.alloca() : memref<2xindex>
  memref.store %c3, %shape[%c0] : memref<2xindex>
  memref.store %c8, %shape[%c1] : memref<2xindex>
  %r = memref.reshape %y(%shape) : (memref<24xf32>, memref<2xindex>) -> memref<?x?xf32>
  %t = memref.transpose %r (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  %d = memref.dim %t, %c0 : memref<?x?xf32, strided<[1, ?]>>
  %ok = arith.cmpi eq, %d, %c8 : index
  cf.assert %ok, "eight columns"
  return
}
