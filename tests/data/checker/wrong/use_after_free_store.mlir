// A buffer is written after it was freed, and nothing reads it.
func.func @main(%f: f32) {
  %a = memref.alloc() : memref<4xf32>
  %c = arith.constant 2 : index
  memref.dealloc %a : memref<4xf32>
  memref.store %f, %a[%c] : memref<4xf32> // expected-error {{use after free}}
  return
}
