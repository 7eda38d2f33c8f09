// RUN: %hotdesk-opt %s --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-share-buffers | FileCheck %s --check-prefix=SHARE

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

// A kernel is over when all is that its threads have started on the device.
// CHECK-LABEL: func.func @kernel(
// CHECK:         nvgpu.tma.async.store
// CHECK-NEXT:      gpu.terminator
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.copy
func.func @kernel(%x: memref<64x64xf16, 3>, %map: !map) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64x64xf16, 3>
  memref.copy %x, %a : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  gpu.launch blocks(%i, %j, %l) in (%is = %c1, %js = %c1, %ls = %c1) threads(%r, %s, %t) in (%rs = %c1, %ss = %c1, %ts = %c1) {
    nvgpu.tma.async.store %a to %map[%c0, %c0] : memref<64x64xf16, 3> -> !map
    gpu.terminator
  }
  memref.copy %x, %x : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  return
}

// The queues of OpenACC are done at a wait for all of them.
// CHECK-LABEL: func.func @queue(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         acc.parallel async(%arg1 : i32)
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK:         memref.dealloc %[[B]]
// CHECK-NEXT:    acc.wait
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK-NEXT:    memref.copy %arg0, %arg0
// SHARE-LABEL: func.func @queue(
// SHARE-COUNT-2: memref.alloc
func.func @queue(%x: memref<4xf32>, %q: i32) {
  %a = memref.alloc() : memref<4xf32>
  acc.parallel async(%q : i32) {
    memref.copy %a, %x : memref<4xf32> to memref<4xf32>
    acc.yield
  }
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  acc.wait
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// A request of MPI is a token: what takes it may wait, so the memory is freed at the end of its block.
// CHECK-LABEL: func.func @sent(
// CHECK:         mpi.isend(
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    mpi.wait
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @sent(%x: memref<4xf32>, %tag: i32, %rank: i32) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %world = mpi.comm_world : !mpi.comm
  %request = mpi.isend(%a, %tag, %rank, %world) : memref<4xf32>, i32, i32 -> !mpi.request
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  mpi.wait(%request) : !mpi.request
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}
