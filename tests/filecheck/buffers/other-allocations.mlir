// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-loop-hoisting --print-decisions 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-merge-allocations --print-decisions 2>&1 | FileCheck %s --check-prefix=MERGE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-promote-buffers-to-stack --print-decisions 2>&1 | FileCheck %s --check-prefix=STACK

// What waits for a token or makes one has its place; of memory of a device nothing is said.
// LOOP:       decision: allocation: allocated: size-defined-below, 32 bytes (gpu.alloc at {{.*}}, gpu.wait at
// LOOP:       decision: allocation: allocated: not-known-to-move, 32 bytes (gpu.alloc at
// LOOP-LABEL: func.func @device(
// LOOP:         scf.for
// LOOP:           gpu.alloc async
// LOOP:           gpu.alloc
// SHARE:      decision: allocation: allocated: asynchronous, 32 bytes (gpu.alloc at
// SHARE:      decision: allocation: allocated: not-ordinary-memory, 32 bytes (gpu.alloc at
// MERGE:      decision: allocation: allocated: asynchronous
// MERGE:      decision: allocation: allocated: not-ordinary-memory
// STACK:      decision: allocation: allocated: asynchronous
// STACK:      decision: allocation: allocated: not-ordinary-memory
func.func @device(%lb: index, %ub: index, %step: index, %x: memref<8xf32>) {
  scf.for %i = %lb to %ub step %step {
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] () : memref<8xf32>
    %t2 = gpu.memcpy async [%t1] %a, %x : memref<8xf32>, memref<8xf32>
    %t3 = gpu.dealloc async [%t2] %a : memref<8xf32>
    gpu.wait [%t3]
    %b = gpu.alloc () : memref<8xf32>
    gpu.memcpy %b, %x : memref<8xf32>, memref<8xf32>
    gpu.dealloc %b : memref<8xf32>
  }
  return
}

// -----

// What is filled as it is made stays where it is, and stays what it is.
// LOOP:       decision: allocation: allocated: does-more-than-allocate, 32 bytes (bufferization.clone at
// LOOP-LABEL: func.func @clone(
// LOOP:         scf.for
// LOOP-NEXT:      bufferization.clone
// SHARE:      decision: allocation: allocated: does-more-than-allocate, 32 bytes (bufferization.clone at
// MERGE:      decision: allocation: allocated: does-more-than-allocate
// STACK:      decision: allocation: allocated: does-more-than-allocate
func.func @clone(%lb: index, %ub: index, %step: index, %x: memref<8xf32>, %out: memref<8xf32>) {
  scf.for %i = %lb to %ub step %step {
    %a = bufferization.clone %x : memref<8xf32> to memref<8xf32>
    memref.copy %a, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %a : memref<8xf32>
  }
  return
}

// -----

// Neither does what may be enlarged later go anywhere: another op than its own frees it.
// LOOP:       decision: allocation: allocated: freed-elsewhere, 16 bytes (memref.alloc at {{.*}}, memref.realloc at
// LOOP:       decision: allocation: allocated: size-defined-below, 32 bytes (memref.realloc at
// SHARE:      decision: allocation: allocated: freed-elsewhere, 16 bytes
// SHARE:      decision: allocation: allocated: does-more-than-allocate, 32 bytes (memref.realloc at
// MERGE:      decision: allocation: allocated: freed-elsewhere
// MERGE:      decision: allocation: allocated: does-more-than-allocate
// STACK:      decision: allocation: allocated: freed-elsewhere
// STACK:      decision: allocation: allocated: does-more-than-allocate
func.func @realloc(%lb: index, %ub: index, %step: index, %out: memref<8xf32>) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.realloc %a : memref<4xf32> to memref<8xf32>
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %b : memref<8xf32>
  }
  return
}

// -----

// What tensors were allocated as is memory like any other, in its space.
// SHARE:       decision: allocation: shared: live-range-ended
// SHARE-LABEL: func.func @space(
// SHARE:         memref.alloc() {{.*}}: memref<8xf32, 3>
// SHARE-NOT:     memref.alloc
// MERGE-COUNT-2: decision: allocation: allocated: other-memory-space
// STACK-COUNT-2: decision: allocation: on the stack: small-and-local
// STACK:         memref.alloca() {{.*}}: memref<8xf32, 3>
func.func @space(%x: f32) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32, 3>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32, 3>)
  memref.dealloc %a : memref<8xf32, 3>
  %b = memref.alloc() {alignment = 64 : i64} : memref<8xf32, 3>
  linalg.fill ins(%x : f32) outs(%b : memref<8xf32, 3>)
  memref.dealloc %b : memref<8xf32, 3>
  return
}
