// Read-modify-write of memory: a histogram, and a maximum by region.
func.func @main(%x: memref<6xindex>, %y: memref<4xi32> {bufferize.result = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  linalg.fill ins(%zero : i32) outs(%y : memref<4xi32>)
  scf.for %i = %c0 to %c6 step %c1 {
    %k = memref.load %x[%i] : memref<6xindex>
    %old = memref.atomic_rmw addi %one, %y[%k] : (i32, memref<4xi32>) -> i32
    %new = memref.generic_atomic_rmw %y[%c0] : memref<4xi32> {
    ^bb0(%v: i32):
      %m = arith.maxsi %v, %one : i32
      memref.atomic_yield %m : i32
    }
  }
  return
}
