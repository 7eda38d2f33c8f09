// hotdesk-opt --hotdesk-buffer-deallocation
func.func @main(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%a : memref<2xf32>)
  %v = memref.subview %a[0] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1]>>
  %w = memref.subview %out[0] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1]>>
  memref.copy %v, %w : memref<1xf32, strided<[1]>> to memref<1xf32, strided<[1]>>
  linalg.map { math.tanh } ins(%x : memref<2xf32>) outs(%out : memref<2xf32>)
  return
}
