// Indices that are put together and taken apart.
func.func @main(%x: memref<3x5xf32>) {
  affine.for %i = 0 to 15 {
    %at:2 = affine.delinearize_index %i into (3, 5) : index, index
    %v = memref.load %x[%at#0, %at#1] : memref<3x5xf32>
    %back = affine.linearize_index disjoint [%at#0, %at#1] by (3, 5) : index
    %same = arith.cmpi eq, %back, %i : index
    cf.assert %same, "the same index"
    affine.store %v, %x[%i floordiv 5, %i mod 5] : memref<3x5xf32>
  }
  return
}
