// A global lives as long as the program.
memref.global "private" constant @k : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main() {
  %k = memref.get_global @k : memref<2xf32>
  memref.dealloc %k : memref<2xf32> // expected-error {{invalid free}}
  return
}
