func.func @fuse_element_18(%arg0: memref<?x5xf32>, %arg1: memref<?x5xf32>) -> memref<?x5xf32> attributes {llvm.emit_c_interface} {
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c0 : memref<?x5xf32>
  %alloc = memref.alloc(%dim) {alignment = 16 : i64} : memref<?x5xf32>
  scf.for %arg2 = %c0 to %dim step %c1 {
    scf.for %arg3 = %c0 to %c5 step %c1 {
      %4 = memref.load %arg0[%arg2, %arg3] : memref<?x5xf32>
      %5 = math.sqrt %4 : f32
      memref.store %5, %alloc[%arg2, %arg3] : memref<?x5xf32>
    }
  }
  %dim_0 = memref.dim %arg1, %c0 : memref<?x5xf32>
  %0 = arith.cmpi sgt, %dim_0, %dim : index
  %1 = arith.select %0, %dim_0, %dim : index
  %alloc_1 = memref.alloc(%1) {alignment = 16 : i64} : memref<?x5xf32>
  %2 = arith.cmpi sgt, %dim, %c1 : index
  %3 = arith.cmpi sgt, %dim_0, %c1 : index
  scf.for %arg2 = %c0 to %1 step %c1 {
    scf.for %arg3 = %c0 to %c5 step %c1 {
      %4 = arith.select %2, %arg2, %c0 : index
      %5 = memref.load %alloc[%4, %arg3] : memref<?x5xf32>
      %6 = arith.select %3, %arg2, %c0 : index
      %7 = memref.load %arg1[%6, %arg3] : memref<?x5xf32>
      %8 = arith.addf %5, %7 : f32
      memref.store %8, %alloc_1[%arg2, %arg3] : memref<?x5xf32>
    }
  }
  return %alloc_1 : memref<?x5xf32>
}
