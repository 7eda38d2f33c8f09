// The element was never written.
func.func @main(%f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  memref.store %f, %a[%c0] : memref<2xf32>
  %v = memref.load %a[%c1] : memref<2xf32> // expected-error {{read of memory nobody wrote}}
  %w = arith.addf %v, %f : f32
  memref.dealloc %a : memref<2xf32>
  return %w : f32
}
