// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// x5 takes x3's buffer, which is freed where x5 was.
// CHECK:       decision: allocation: allocated: nothing-to-share, 40000 bytes
// CHECK-COUNT-3: decision: allocation: allocated: live-at-the-same-time, 40000 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 40000 bytes (memref.alloc at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @same_size(
// CHECK-NEXT:    [[X1:%.*]] = memref.alloc()
// CHECK-NEXT:    [[X2:%.*]] = memref.alloc()
// CHECK-NEXT:    [[X3:%.*]] = memref.alloc()
// CHECK-NEXT:    linalg.fill {{.*}} outs([[X1]] :
// CHECK-NEXT:    linalg.fill {{.*}} outs([[X2]] :
// CHECK-NEXT:    linalg.add ins([[X2]], [[X1]] : {{.*}}) outs([[X3]] :
// CHECK-NEXT:    [[X4:%.*]] = memref.alloc()
// CHECK-NEXT:    linalg.add ins([[X2]], [[X3]] : {{.*}}) outs([[X4]] :
// CHECK-NEXT:    memref.dealloc [[X2]]
// CHECK-NEXT:    linalg.add ins([[X4]], [[X1]] : {{.*}}) outs([[X3]] :
// CHECK-NEXT:    memref.copy [[X3]]
// CHECK-NEXT:    memref.dealloc [[X1]]
// CHECK-NEXT:    memref.dealloc [[X4]]
// CHECK-NEXT:    memref.dealloc [[X3]]
// CHECK-NEXT:    return
func.func @same_size(%z: f32, %out: memref<100x100xf32>) {
  %x1 = memref.alloc() : memref<100x100xf32>
  %x2 = memref.alloc() : memref<100x100xf32>
  %x3 = memref.alloc() : memref<100x100xf32>
  linalg.fill ins(%z : f32) outs(%x1 : memref<100x100xf32>)
  linalg.fill ins(%z : f32) outs(%x2 : memref<100x100xf32>)
  linalg.add ins(%x2, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x3 : memref<100x100xf32>)
  %x4 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x2, %x3 : memref<100x100xf32>, memref<100x100xf32>) outs(%x4 : memref<100x100xf32>)
  memref.dealloc %x2 : memref<100x100xf32>
  memref.dealloc %x3 : memref<100x100xf32>
  %x5 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x4, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x5 : memref<100x100xf32>)
  memref.copy %x5, %out : memref<100x100xf32> to memref<100x100xf32>
  memref.dealloc %x1 : memref<100x100xf32>
  memref.dealloc %x4 : memref<100x100xf32>
  memref.dealloc %x5 : memref<100x100xf32>
  return
}

// -----

// Nothing is freed yet: that is left to whoever frees.
// CHECK-LABEL: func.func @not_freed(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:    memref.copy [[A]]
// CHECK-NEXT:    linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:    memref.copy [[A]]
// CHECK-NEXT:    return
func.func @not_freed(%z: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  return
}
