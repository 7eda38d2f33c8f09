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

// A task is done where it is waited for.
// CHECK-LABEL: func.func @task(
// CHECK:         omp.taskwait
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memref.dealloc
// SHARE-LABEL: func.func @task(
// SHARE-COUNT-2: memref.alloc
func.func @task(%x: memref<4xf32>, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  omp.task {
    memref.copy %a, %o : memref<4xf32> to memref<4xf32>
    omp.terminator
  }
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  omp.taskwait
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  return
}

// At the end of a group all tasks are done.
// CHECK-LABEL: func.func @group(
// CHECK:         omp.taskgroup
// CHECK-NEXT:      omp.task {
// CHECK:         memref.dealloc
// CHECK-NEXT:    memref.copy %arg1, %arg0
func.func @group(%x: memref<4xf32>, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  omp.taskgroup {
    omp.task {
      memref.copy %a, %o : memref<4xf32> to memref<4xf32>
      omp.terminator
    }
    omp.terminator
  }
  memref.copy %o, %x : memref<4xf32> to memref<4xf32>
  return
}

// The others of a team may be at work that is shared until the next barrier.
// CHECK-LABEL: func.func @shared(
// CHECK:         omp.taskwait
// CHECK-NEXT:      omp.barrier
// CHECK-NEXT:      memref.dealloc
// CHECK-NEXT:      memref.copy
func.func @shared(%x: memref<4xf32>, %o: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    omp.wsloop nowait {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.copy %a, %o : memref<4xf32> to memref<4xf32>
        omp.yield
      }
    }
    omp.taskwait
    omp.barrier
    memref.copy %o, %o : memref<4xf32> to memref<4xf32>
    omp.terminator
  }
  return
}

// What is returned with its token is the caller's, who waits.
// CHECK-LABEL: func.func @returned_with_its_token(
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @returned_with_its_token(%x: memref<4xf32>, %o: memref<4xf32>) -> (memref<4xf32>, !async.token) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = async.execute {
    memref.copy %a, %o : memref<4xf32> to memref<4xf32>
    async.yield
  }
  return %a, %t : memref<4xf32>, !async.token
}
