// hotdesk-opt --hotdesk-privatize-buffers
func.func @main(%x: memref<64x8192xf32>, %y: memref<64x8192xf32>) {
  scf.forall (%i) in (64) {
    %r = memref.subview %x[%i, 0] [1, 8192] [1, 1] : memref<64x8192xf32> to memref<8192xf32, strided<[1], offset: ?>>
    %q = memref.subview %y[%i, 0] [1, 8192] [1, 1] : memref<64x8192xf32> to memref<8192xf32, strided<[1], offset: ?>>
    %a = memref.alloc() : memref<8192xf32>
    linalg.exp ins(%r : memref<8192xf32, strided<[1], offset: ?>>) outs(%a : memref<8192xf32>)
    linalg.tanh ins(%a : memref<8192xf32>) outs(%q : memref<8192xf32, strided<[1], offset: ?>>)
    memref.dealloc %a : memref<8192xf32>
  }
  return
}
