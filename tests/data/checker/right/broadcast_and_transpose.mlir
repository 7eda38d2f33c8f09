// A transposition, a broadcast and a reduction, between buffers of their own.
func.func @main(%x: memref<2x3xf32>, %y: memref<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<3x2xf32>
  linalg.transpose ins(%x : memref<2x3xf32>) outs(%t : memref<3x2xf32>) permutation = [1, 0]
  %s = memref.alloc() : memref<3xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<3xf32>)
  linalg.reduce { arith.addf } ins(%t : memref<3x2xf32>) outs(%s : memref<3xf32>) dimensions = [1]
  memref.dealloc %t : memref<3x2xf32>
  linalg.broadcast ins(%s : memref<3xf32>) outs(%y : memref<2x3xf32>) dimensions = [0]
  memref.dealloc %s : memref<3xf32>
  return
}
