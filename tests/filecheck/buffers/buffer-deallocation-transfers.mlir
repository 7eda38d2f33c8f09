// RUN: %hotdesk-opt %s --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-share-buffers | FileCheck %s --check-prefix=SHARE

!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

// What is loaded is there when the barrier says so. So the memory is in use until then, and that behind the descriptor.
// CHECK-LABEL: func.func @load(
// CHECK:         %[[G:.*]] = memref.alloc() : memref<128x128xf16>
// CHECK:         %[[A:.*]] = memref.alloc() : memref<64x64xf16, 3>
// CHECK:         nvgpu.tma.async.load
// CHECK:         %[[B:.*]] = memref.alloc() : memref<64x64xf16, 3>
// CHECK:         memref.dealloc %[[B]]
// CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity
// CHECK-DAG:     memref.dealloc %[[A]]
// CHECK-DAG:     memref.dealloc %[[G]]
// CHECK-NEXT:    memref.copy %arg0, %arg0
// SHARE-LABEL: func.func @load(
// SHARE-COUNT-2: memref.alloc() : memref<64x64xf16, 3>
func.func @load(%x: memref<64x64xf16, 3>, %n: index, %parity: i1) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 8192 : index
  %g = memref.alloc() : memref<128x128xf16>
  %u = memref.cast %g : memref<128x128xf16> to memref<*xf16>
  %map = nvgpu.tma.create.descriptor %u box[%c64, %c64] : memref<*xf16> -> !map
  %barrier = nvgpu.mbarrier.create -> !barrier
  nvgpu.mbarrier.init %barrier[%c0], %n : !barrier
  nvgpu.mbarrier.arrive.expect_tx %barrier[%c0], %bytes : !barrier
  %a = memref.alloc() : memref<64x64xf16, 3>
  nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %a : !map, !barrier -> memref<64x64xf16, 3>
  %b = memref.alloc() : memref<64x64xf16, 3>
  memref.copy %x, %b : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  memref.copy %b, %x : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  nvgpu.mbarrier.try_wait.parity %barrier[%c0], %parity, %n : !barrier
  memref.copy %x, %x : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  return
}

// The second group may run on at the first wait, not the first one.
// CHECK-LABEL: func.func @store(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         nvgpu.tma.async.store %[[A]]
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK:         nvgpu.tma.async.store %[[B]]
// CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
// CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 1
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK-NEXT:    memref.copy %arg0, %arg0
// CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT:    memref.dealloc %[[B]]
// SHARE-LABEL: func.func @store(
// SHARE-COUNT-2: memref.alloc
func.func @store(%x: memref<64x64xf16, 3>, %map: !map) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<64x64xf16, 3>
  memref.copy %x, %a : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  nvgpu.tma.async.store %a to %map[%c0, %c0] : memref<64x64xf16, 3> -> !map
  nvvm.cp.async.bulk.commit.group
  %b = memref.alloc() : memref<64x64xf16, 3>
  memref.copy %x, %b : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  nvgpu.tma.async.store %b to %map[%c0, %c0] : memref<64x64xf16, 3> -> !map
  nvvm.cp.async.bulk.commit.group
  nvvm.cp.async.bulk.wait_group 1
  memref.copy %x, %x : memref<64x64xf16, 3> to memref<64x64xf16, 3>
  nvvm.cp.async.bulk.wait_group 0
  return
}

// A queue of OpenACC: what a wait for another one tells is not known, so it is freed where the function ends.
// CHECK-LABEL: func.func @queue(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         acc.parallel async(%arg1 : i32)
// CHECK:         acc.wait(%arg1 : i32)
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK:         acc.wait(%arg2 : i32)
// CHECK-NEXT:    memref.copy %arg0, %arg0
// CHECK-NEXT:    memref.dealloc %[[B]]
// CHECK-NEXT:    return
func.func @queue(%x: memref<4xf32>, %q: i32, %other: i32) {
  %a = memref.alloc() : memref<4xf32>
  acc.parallel async(%q : i32) {
    memref.copy %a, %x : memref<4xf32> to memref<4xf32>
    acc.yield
  }
  acc.wait(%q : i32)
  %b = memref.alloc() : memref<4xf32>
  acc.parallel async(%q : i32) {
    memref.copy %b, %x : memref<4xf32> to memref<4xf32>
    acc.yield
  }
  acc.wait(%other : i32)
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// A request of MPI.
// CHECK-LABEL: func.func @sent(
// CHECK:         mpi.isend(
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    mpi.wait
// CHECK-NEXT:    memref.dealloc
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
