// An element that others change atomically is read as if nobody did.
func.func @main(%count: memref<4xi32>, %y: memref<6xi32>) {
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (6) {
    %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<4xi32>) -> i32 // expected-error {{race}}
    %now = memref.load %count[%c0] : memref<4xi32> // expected-error {{race}}
    memref.store %now, %y[%i] : memref<6xi32>
  }
  return
}
