// A global without contents.
memref.global "private" @g : memref<2xf32> = uninitialized
func.func @main(%y: memref<2xf32>) {
  %g = memref.get_global @g : memref<2xf32>
  linalg.exp ins(%g : memref<2xf32>) outs(%y : memref<2xf32>) // expected-error {{read of memory nobody wrote}}
  return
}
