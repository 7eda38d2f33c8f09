// As bufferization once made it: the loop passes on new memory, and the result is said to lie in %arg0.
module {
  func.func @main(%arg0: memref<4xf32> {hotdesk.donated, hotdesk.holds = array<i64: 0>}, %arg1: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %false = arith.constant false
    %0:2 = scf.for %arg2 = %c0 to %arg1 step %c1 iter_args(%arg3 = %arg0, %arg4 = %false) -> (memref<4xf32>, i1) {
      %1 = func.call @g(%arg3) : (memref<4xf32>) -> memref<4xf32>
      scf.if %arg4 {
        memref.dealloc %arg3 : memref<4xf32>
      }
      %true = arith.constant true
      scf.yield %1, %true : memref<4xf32>, i1
    }
    scf.if %0#1 {
      memref.dealloc %0#0 : memref<4xf32>
    }
    return // expected-error {{misplaced result}}
  }
  func.func @g(%arg0: memref<4xf32> {hotdesk.access = "none"}) -> memref<4xf32> {
    %cst = arith.constant 1.500000e+00 : f32
    %alloc = memref.alloc() : memref<4xf32>
    linalg.fill ins(%cst : f32) outs(%alloc : memref<4xf32>)
    return %alloc : memref<4xf32>
  }
}
