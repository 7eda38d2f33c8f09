// Stack memory is not freed.
func.func @main() {
  %a = memref.alloca() : memref<4xf32>
  memref.dealloc %a : memref<4xf32> // expected-error {{invalid free}}
  return
}
