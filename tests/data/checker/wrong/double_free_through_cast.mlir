// A buffer is freed under two names.
func.func @main() {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %a : memref<4xf32> // expected-error {{double free}}
  return
}
