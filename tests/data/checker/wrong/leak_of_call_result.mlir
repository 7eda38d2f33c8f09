// What a call returns is the caller's, who drops it.
func.func private @make() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32> // expected-error {{leak}}
  return %a : memref<4xf32>
}
func.func @main() {
  %a = call @make() : () -> memref<4xf32>
  return
}
