// A loop that hands a buffer through both of its regions.
func.func @main(%y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant 0.5 : f32
  %a = memref.alloc() : memref<f32>
  memref.store %f, %a[] : memref<f32>
  %r:2 = scf.while (%p = %a, %i = %c0) : (memref<f32>, index) -> (memref<f32>, index) {
    %more = arith.cmpi slt, %i, %c5 : index
    scf.condition(%more) %p, %i : memref<f32>, index
  } do {
  ^bb0(%p: memref<f32>, %i: index):
    %b = memref.alloc() : memref<f32>
    %v = memref.load %p[] : memref<f32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %b[] : memref<f32>
    memref.dealloc %p : memref<f32>
    %j = arith.addi %i, %c1 : index
    scf.yield %b, %j : memref<f32>, index
  }
  memref.copy %r#0, %y : memref<f32> to memref<f32>
  memref.dealloc %r#0 : memref<f32>
  return
}
