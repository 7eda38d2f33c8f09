// The selected buffer is freed under its other name.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  %s = arith.select %true, %a, %b : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  memref.copy %s, %y : memref<4xf32> to memref<4xf32> // expected-error {{use after free}}
  memref.dealloc %b : memref<4xf32>
  return
}
