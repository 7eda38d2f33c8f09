// Stack memory in a function, a scope and a loop.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloca() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.alloca_scope {
    %b = memref.alloca() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %t = memref.alloca() : memref<f32>
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %t[] : memref<f32>
    %w = memref.load %t[] : memref<f32>
    memref.store %w, %y[%i] : memref<4xf32>
  }
  return
}
