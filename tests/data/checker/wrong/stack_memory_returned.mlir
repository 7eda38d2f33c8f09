// Memory of the callee's stack is used by the caller.
func.func private @make(%f: f32) -> memref<f32> {
  %a = memref.alloca() : memref<f32>
  memref.store %f, %a[] : memref<f32>
  return %a : memref<f32>
}
func.func @main(%f: f32) -> f32 {
  %a = call @make(%f) : (f32) -> memref<f32>
  %v = memref.load %a[] : memref<f32> // expected-error {{use after free}}
  return %v : f32
}
