// RUN: %hotdesk-opt %s --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-share-buffers | FileCheck %s --check-prefix=SHARE

// What `async.execute` reads is in use until it is waited for.
// CHECK-LABEL: func.func @awaited(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         async.execute
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK:         memref.dealloc %[[B]]
// CHECK-NEXT:    async.await
// CHECK-NEXT:    memref.dealloc %[[A]]
// SHARE-LABEL: func.func @awaited(
// SHARE-COUNT-2: memref.alloc
func.func @awaited(%x: memref<4xf32>, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = async.execute {
    memref.copy %a, %o : memref<4xf32> to memref<4xf32>
    async.yield
  }
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  async.await %t : !async.token
  return
}

// The tokens of a loop are waited for somewhere behind: it is freed at the end of its block.
// CHECK-LABEL: func.func @queued(
// CHECK:         gpu.wait [
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @queued(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %t0 = gpu.wait async
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t0) -> !gpu.async.token {
    %t1 = gpu.memcpy async [%u] %a, %x : memref<4xf32>, memref<4xf32>
    scf.yield %t1 : !gpu.async.token
  }
  gpu.wait [%t]
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}
