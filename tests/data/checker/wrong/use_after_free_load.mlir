// A buffer is read after it was freed.
func.func @main(%f: f32) -> f32 {
  %a = memref.alloc() : memref<f32>
  memref.store %f, %a[] : memref<f32>
  memref.dealloc %a : memref<f32>
  %v = memref.load %a[] : memref<f32> // expected-error {{use after free}}
  return %v : f32
}
