// What is retained is not freed, and is owned by the function then.
func.func @main(%p: i1, %x: memref<4xf32>) -> memref<4xf32> {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  %s = arith.select %p, %a, %b : memref<4xf32>
  %owned = bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%true, %true) retain (%s : memref<4xf32>)
  cf.assert %owned, "the result is owned"
  return %s : memref<4xf32>
}
