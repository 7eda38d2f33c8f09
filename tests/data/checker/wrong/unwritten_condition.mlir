// A branch depends on memory that nobody wrote.
func.func @main() {
  %a = memref.alloc() : memref<i1>
  %p = memref.load %a[] : memref<i1> // expected-error {{read of memory nobody wrote}}
  cf.cond_br %p, ^bb1, ^bb1
^bb1:
  memref.dealloc %a : memref<i1>
  return
}
