func.func @stack(%n: index, %z: f32, %out: memref<2xf32>) -> memref<2xf32> {
  %small = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%small : memref<2xf32>)
  memref.copy %small, %out : memref<2xf32> to memref<2xf32>
  %large = memref.alloc() : memref<257xf32>
  linalg.fill ins(%z : f32) outs(%large : memref<257xf32>)
  %dynamic = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%dynamic : memref<?xf32>)
  %leaves = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%leaves : memref<2xf32>)
  return %leaves : memref<2xf32>
}
