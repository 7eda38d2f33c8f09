// Stack memory leaves its scope.
func.func @main(%f: f32) -> f32 {
  %r = memref.alloca_scope -> (memref<f32>) {
    %a = memref.alloca() : memref<f32>
    memref.store %f, %a[] : memref<f32>
    memref.alloca_scope.return %a : memref<f32>
  }
  %v = memref.load %r[] : memref<f32> // expected-error {{use after free}}
  return %v : f32
}
