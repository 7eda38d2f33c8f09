// Memory without elements: allocated, sliced, copied, freed.
// sizes: 0
func.func @main(%n: index, %y: memref<0xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  %s = memref.subview %a[0] [0] [1] : memref<?xf32> to memref<0xf32, strided<[1]>>
  memref.copy %s, %y : memref<0xf32, strided<[1]>> to memref<0xf32>
  linalg.exp ins(%s : memref<0xf32, strided<[1]>>) outs(%y : memref<0xf32>)
  memref.dealloc %a : memref<?xf32>
  return
}
