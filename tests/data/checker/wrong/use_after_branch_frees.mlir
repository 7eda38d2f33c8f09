// Only one branch frees, and what comes behind both reads.
func.func @main(%p: i1, %x: memref<4xf32>, %y: memref<4xf32>) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  cf.cond_br %true, ^free, ^keep
^free:
  memref.dealloc %a : memref<4xf32>
  cf.br ^keep
^keep:
  memref.copy %a, %y : memref<4xf32> to memref<4xf32> // expected-error {{use after free}}
  return
}
