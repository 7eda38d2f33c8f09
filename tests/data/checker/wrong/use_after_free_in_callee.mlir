// The callee frees what its caller still reads.
func.func private @consume(%a: memref<4xf32>) {
  memref.dealloc %a : memref<4xf32>
  return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  call @consume(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %y : memref<4xf32> to memref<4xf32> // expected-error {{use after free}}
  return
}
