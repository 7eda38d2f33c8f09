// A structured op reads a buffer that was freed too early.
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  linalg.add ins(%a, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>) // expected-error {{use after free}}
  return
}
