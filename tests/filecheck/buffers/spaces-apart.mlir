// Buffers of two memory spaces stay apart, and what is copied from one to the other is.
// RUN: %hotdesk-opt %s --hotdesk-copy-removal --hotdesk-share-buffers | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-merge-allocations | FileCheck %s --check-prefix=MERGED

// MERGED-LABEL:   func.func @f(
// MERGED-COUNT-3: memref.alloc
// MERGED-NOT:     memref.alloc
// MERGED:         return
// CHECK-LABEL: func.func @f(
// CHECK:         [[A:%.*]] = memref.alloc() {{.*}}: memref<8xf32>
// CHECK:         [[B:%.*]] = memref.alloc() {{.*}}: memref<8xf32, 1>
// CHECK:         memref.copy [[B]], %arg0
// CHECK:         [[C:%.*]] = memref.alloc() {{.*}}: memref<8xf32, 1>
// CHECK:         memref.copy %arg0, [[C]]
// CHECK:         return [[C]]
func.func @f(%x: memref<8xf32>, %y: memref<8xf32, 1>) -> memref<8xf32, 1> {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%x : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  %b = memref.alloc() : memref<8xf32, 1>
  linalg.exp ins(%y : memref<8xf32, 1>) outs(%b : memref<8xf32, 1>)
  memref.copy %b, %x : memref<8xf32, 1> to memref<8xf32>
  memref.dealloc %b : memref<8xf32, 1>
  %c = memref.alloc() : memref<8xf32, 1>
  memref.copy %x, %c : memref<8xf32> to memref<8xf32, 1>
  return %c : memref<8xf32, 1>
}
