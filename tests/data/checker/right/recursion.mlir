// Every level has a buffer of its own.
// sizes: 40
func.func private @down(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<index>
  memref.store %n, %a[] : memref<index>
  %last = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %last -> (index) {
    scf.yield %c0 : index
  } else {
    %m = arith.subi %n, %c1 : index
    %q = func.call @down(%m) : (index) -> index
    %k = memref.load %a[] : memref<index>
    %s = arith.addi %q, %k : index
    scf.yield %s : index
  }
  memref.dealloc %a : memref<index>
  return %r : index
}
func.func @main(%n: index) -> index {
  %r = call @down(%n) : (index) -> index
  %c820 = arith.constant 820 : index
  %ok = arith.cmpi eq, %r, %c820 : index
  cf.assert %ok, "0 + 1 + … + 40"
  return %r : index
}
