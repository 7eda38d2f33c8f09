// As bufferization once made it: the loop passes on new memory, and the result is said to lie in %arg0.
module {
  func.func @main(%arg0: memref<4xf32> {hotdesk.donated, hotdesk.holds = array<i64: 0>}, %arg1: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %false = arith.constant false
    %0:3 = scf.while (%arg2 = %c0, %arg3 = %arg0, %arg4 = %false) : (index, memref<4xf32>, i1) -> (index, memref<4xf32>, i1) {
      %1 = arith.cmpi slt, %arg2, %arg1 : index
      scf.condition(%1) %arg2, %arg3, %arg4 : index, memref<4xf32>, i1
    } do {
    ^bb0(%arg2: index, %arg3: memref<4xf32>, %arg4: i1):
      %1 = func.call @g(%arg3) : (memref<4xf32>) -> memref<4xf32>
      scf.if %arg4 {
        memref.dealloc %arg3 : memref<4xf32>
      }
      %2 = arith.addi %arg2, %c1 : index
      %true = arith.constant true
      scf.yield %2, %1, %true : index, memref<4xf32>, i1
    }
    scf.if %0#2 {
      memref.dealloc %0#1 : memref<4xf32>
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
