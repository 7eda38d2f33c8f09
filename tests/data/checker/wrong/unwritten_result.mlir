// The memory of the second result is never written.
func.func @main(%x: memref<4xf32>, %r0: memref<4xf32> {bufferize.result = 0 : i64}, %r1: memref<4xf32> {bufferize.result = 1 : i64}) {
  memref.copy %x, %r0 : memref<4xf32> to memref<4xf32>
  return // expected-error {{read of memory nobody wrote}}
}
