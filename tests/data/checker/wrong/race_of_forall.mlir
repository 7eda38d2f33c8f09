// Threads share the memory that each of them takes for its own.
func.func @main(%x: memref<4x3xf32>, %y: memref<4x3xf32>) {
  %t = memref.alloc() : memref<3xf32>
  scf.forall (%i) in (4) {
    %a = memref.subview %x[%i, 0] [1, 3] [1, 1] : memref<4x3xf32> to memref<3xf32, strided<[1], offset: ?>>
    %b = memref.subview %y[%i, 0] [1, 3] [1, 1] : memref<4x3xf32> to memref<3xf32, strided<[1], offset: ?>>
    linalg.exp ins(%a : memref<3xf32, strided<[1], offset: ?>>) outs(%t : memref<3xf32>) // expected-error {{race}}
    linalg.copy ins(%t : memref<3xf32>) outs(%b : memref<3xf32, strided<[1], offset: ?>>) // expected-error {{race}}
  }
  memref.dealloc %t : memref<3xf32>
  return
}
