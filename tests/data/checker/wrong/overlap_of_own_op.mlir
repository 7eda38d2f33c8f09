// The same, with an op of Hotdesk's.
func.func @main(%x: memref<4x4xf32>, %w: memref<4x4xf32>) {
  "hotdesk.contract"(%x, %w, %x) {equation = "ab,bc->ac", accumulate = false} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () // expected-error {{overlap}}
  return
}
