// A branch yields one buffer twice.
func.func @main(%p: i1) {
  %true = arith.constant true
  %r:2 = scf.if %true -> (memref<4xf32>, memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a, %a : memref<4xf32>, memref<4xf32>
  } else {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    scf.yield %a, %b : memref<4xf32>, memref<4xf32>
  }
  memref.dealloc %r#0 : memref<4xf32>
  memref.dealloc %r#1 : memref<4xf32> // expected-error {{double free}}
  return
}
