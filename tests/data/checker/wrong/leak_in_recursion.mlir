// Every level allocates, the innermost alone frees.
func.func private @down(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xi32> // expected-error {{leak}}
  %last = arith.cmpi eq, %n, %c0 : index
  scf.if %last {
    memref.dealloc %a : memref<2xi32>
  } else {
    %m = arith.subi %n, %c1 : index
    func.call @down(%m) : (index) -> ()
  }
  return
}
func.func @main() {
  %c3 = arith.constant 3 : index
  call @down(%c3) : (index) -> ()
  return
}
