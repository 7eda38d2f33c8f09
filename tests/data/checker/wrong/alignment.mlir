// Nobody has asked for an alignment of 128 bytes.
func.func @main() {
  %a = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %b = memref.assume_alignment %a, 128 : memref<4xf32> // expected-error {{wrong alignment}}
  memref.dealloc %a : memref<4xf32>
  return
}
