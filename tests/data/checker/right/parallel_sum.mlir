// Parallel loops with a sum, and threads that write their own part.
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %t = memref.alloca() : memref<f32>
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %t[] : memref<f32>
    %w = memref.load %t[] : memref<f32>
    scf.reduce(%w : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  scf.forall (%i) in (8) {
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %y[%i] : memref<8xf32>
  }
  return %sum : f32
}
