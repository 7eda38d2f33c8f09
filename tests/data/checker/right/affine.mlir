// Loops of the affine dialect.
func.func @main(%x: memref<8xf32>, %y: memref<4x4xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %v = affine.load %x[%i + %j] : memref<8xf32>
      affine.store %v, %y[%i, 3 - %j] : memref<4x4xf32>
    }
  }
  return
}
