// The callee writes what the caller may only read.
func.func private @scale(%a: memref<4xf32>) {
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) // expected-error {{write to read-only memory}}
  return
}
func.func @main(%x: memref<4xf32> {bufferization.access = "read"}) {
  call @scale(%x) : (memref<4xf32>) -> ()
  return
}
