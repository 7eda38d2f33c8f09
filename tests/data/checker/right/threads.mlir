// Threads that read the same memory, write parts of their own, have memory of their own, and count atomically.
func.func @main(%x: memref<8xf32>, %k: memref<8xindex>, %y: memref<8x2xf32>, %count: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  scf.forall (%i) in (8) {
    %part = memref.subview %y[%i, 0] [1, 2] [1, 1] : memref<8x2xf32> to memref<2xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<2xf32>
    scf.for %j = %c0 to %c2 step %c1 {
      %v = memref.load %x[%j] : memref<8xf32>
      memref.store %v, %t[%j] : memref<2xf32>
    }
    memref.copy %t, %part : memref<2xf32> to memref<2xf32, strided<[1], offset: ?>>
    memref.dealloc %t : memref<2xf32>
    %own = memref.load %part[%c1] : memref<2xf32, strided<[1], offset: ?>>
    memref.store %own, %part[%c0] : memref<2xf32, strided<[1], offset: ?>>
  }
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %where = memref.load %k[%i] : memref<8xindex>
    %old = memref.atomic_rmw addi %one, %count[%where] : (i32, memref<4xi32>) -> i32
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c2) step (%c1, %c1) {
    %arena = memref.alloc() {alignment = 64 : i64, hotdesk.arena} : memref<64xi8>
    %u = memref.view %arena[%c0][] : memref<64xi8> to memref<f32>
    %v = memref.load %y[%i, %j] : memref<8x2xf32>
    memref.store %v, %u[] : memref<f32>
    %w = memref.load %u[] : memref<f32>
    memref.store %w, %y[%i, %j] : memref<8x2xf32>
    memref.dealloc %arena : memref<64xi8>
  }
  return
}
