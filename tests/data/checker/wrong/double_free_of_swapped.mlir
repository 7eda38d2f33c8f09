// A loop that swaps two buffers an odd number of times; one result is freed twice, the other never.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32> // expected-error {{leak}}
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %q, %p : memref<4xf32>, memref<4xf32>
  }
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %r#1 : memref<4xf32> // expected-error {{double free}}
  return
}
