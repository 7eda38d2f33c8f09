// Only one branch frees.
func.func @main() {
  %false = arith.constant false
  %a = memref.alloc() : memref<4xf32> // expected-error {{leak}}
  scf.if %false {
    memref.dealloc %a : memref<4xf32>
  }
  return
}
