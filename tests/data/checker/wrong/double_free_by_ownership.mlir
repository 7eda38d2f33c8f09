// Two deallocations by ownership claim the same buffer.
func.func @main() {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  bufferization.dealloc (%a : memref<4xf32>) if (%true)
  bufferization.dealloc (%a : memref<4xf32>) if (%true) // expected-error {{double free}}
  return
}
