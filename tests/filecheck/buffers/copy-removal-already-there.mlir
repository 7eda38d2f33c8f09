// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal=arguments-overlap=false --print-decisions 2>&1 | FileCheck %s

// Nothing to copy.
// CHECK:       decision: copy: removed: nothing-copied
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
func.func @empty(%x: memref<4x0xf32>, %y: memref<4x0xf32>) {
  memref.copy %x, %y : memref<4x0xf32> to memref<4x0xf32>
  return
}

// -----

// What comes back is what was there: the source serves, and is copied to itself.
// CHECK-DAG:   decision: copy: removed: source-reused, 32 bytes
// CHECK-DAG:   decision: copy: removed: copy-of-itself, 32 bytes
// CHECK-LABEL: func.func @there_and_back(
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @there_and_back(%y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// The buffer is written later, so that the source does not serve; yet what comes back at first is what was there.
// CHECK-DAG:   decision: copy: removed: already-there, 32 bytes
// CHECK-DAG:   decision: copy: removed: overwritten-unread, 32 bytes
// CHECK-LABEL: func.func @there_and_back_and_on(
// CHECK-NOT:     memref.copy
// CHECK:         linalg.fill
func.func @there_and_back_and_on(%z: f32, %y: memref<8xf32>, %o: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  linalg.add ins(%a, %y : memref<8xf32>, memref<8xf32>) outs(%o : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// The target is written in a branch in between.
// CHECK-LABEL: func.func @written_in_between(
// CHECK-COUNT-2: memref.copy
func.func @written_in_between(%p: i1, %z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  scf.if %p {
    linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  }
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}

// -----

// The target is allocated in front of the loop, and used in it only: the source serves.
// CHECK:       decision: copy: removed: source-reused
// CHECK-LABEL: func.func @allocated_in_front(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: memref<8xf32>, [[Y:%[a-z0-9]+]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK-NEXT:      linalg.exp ins([[X]] : {{.*}} outs([[Y]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @allocated_in_front(%lb: index, %ub: index, %step: index, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  scf.for %i = %lb to %ub step %step {
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  }
  memref.dealloc %a : memref<8xf32>
  return
}
