// RUN: %hotdesk-opt %s --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-merge-allocations | FileCheck %s --check-prefix=MERGED

// The sizes of a reshape are in use until it has its last reader: nothing else may lie there.
// CHECK-COUNT-2: decision: allocation: allocated:
// CHECK-LABEL: func.func @sizes(
// CHECK-COUNT-2: memref.alloc()
// MERGED-LABEL: func.func @sizes(
// MERGED:         memref.alloc() {{.*}} : memref<128xi8>
func.func @sizes(%k: index, %x: memref<8xf32>, %o: memref<8xf32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  %i4 = arith.constant 4 : index
  %s = memref.alloc() : memref<2xindex>
  memref.store %i2, %s[%i0] : memref<2xindex>
  memref.store %i4, %s[%i1] : memref<2xindex>
  %a = memref.alloc() : memref<2xindex>
  memref.store %i1, %a[%i0] : memref<2xindex>
  memref.store %i1, %a[%i1] : memref<2xindex>
  %r = memref.reshape %x(%s) : (memref<8xf32>, memref<2xindex>) -> memref<?x?xf32>
  %n = memref.load %a[%i1] : memref<2xindex>
  %e = memref.load %r[%i1, %n] : memref<?x?xf32>
  linalg.fill ins(%e : f32) outs(%o : memref<8xf32>)
  memref.dealloc %s : memref<2xindex>
  memref.dealloc %a : memref<2xindex>
  return
}
