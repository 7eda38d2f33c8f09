// An input that is not donated is written.
func.func @main(%x: memref<4xf32> {hotdesk.kind = "input"}, %r: memref<4xf32> {bufferize.result = 0 : i64}) {
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) // expected-error {{write to read-only memory}}
  memref.copy %x, %r : memref<4xf32> to memref<4xf32>
  return
}
