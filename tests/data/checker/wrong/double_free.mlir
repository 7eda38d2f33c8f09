// A buffer is freed twice.
func.func @main() {
  %a = memref.alloc() : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %a : memref<4xf32> // expected-error {{double free}}
  return
}
