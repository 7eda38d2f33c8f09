// The result of a function that another one calls.
func.func private @f(%x: memref<4xf32> {hotdesk.holds = array<i64: 0>}, %b: i1) {
  %one = arith.constant 1.0 : f32
  %y = memref.alloca() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
  %r = arith.select %b, %y, %x : memref<4xf32>
  return // expected-error {{misplaced result}}
}
func.func @main(%x: memref<4xf32>) {
  %b = arith.constant true
  call @f(%x, %b) : (memref<4xf32>, i1) -> ()
  return
}
