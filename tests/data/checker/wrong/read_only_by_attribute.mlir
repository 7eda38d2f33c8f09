// MLIR's attribute says that the argument is only read.
func.func @main(%x: memref<4xf32> {bufferization.writable = false}, %f: f32) {
  %c0 = arith.constant 0 : index
  memref.store %f, %x[%c0] : memref<4xf32> // expected-error {{write to read-only memory}}
  return
}
