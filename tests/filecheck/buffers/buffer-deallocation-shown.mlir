// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation --print-decisions 2>&1 | FileCheck %s

// What a handle of an argument leads to is the caller's.
// CHECK-LABEL: func.func @handle_of_an_argument(
// CHECK-COUNT-1: memref.dealloc
// CHECK-NOT:     memref.dealloc
func.func @handle_of_an_argument(%x: memref<4xf32>) -> !llvm.ptr {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %h = builtin.unrealized_conversion_cast %x : memref<4xf32> to !llvm.ptr
  return %h : !llvm.ptr
}

// -----

// Memory lives as long as a tensor that shows it.
// CHECK-LABEL: func.func @extracted(
// CHECK:         tensor.extract
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @extracted(%x: memref<4xf32>, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %f = tensor.extract %t[%i] : tensor<4xf32>
  return %f : f32
}

// -----

// Also where the tensor becomes a memref again.
// CHECK-LABEL: func.func @there_and_back(
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @there_and_back(%x: memref<4xf32>, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %m = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
  %f = memref.load %m[%i] : memref<4xf32>
  return %f : f32
}

// -----

// And where a branch yields it, if the memory lives on behind that.
// CHECK-LABEL: func.func @yielded(
// CHECK:         tensor.extract
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @yielded(%x: memref<4xf32>, %p: i1, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = scf.if %p -> tensor<4xf32> {
    scf.yield %t : tensor<4xf32>
  } else {
    scf.yield %e : tensor<4xf32>
  }
  %f = tensor.extract %y[%i] : tensor<4xf32>
  return %f : f32
}

// -----

// Elements that are no numbers: of vectors it is known how many bytes they take, unless they scale, of memrefs it is not.
// CHECK:       decision: allocation: freed: live-range-ended, 48 bytes
// CHECK:       decision: allocation: freed: live-range-ended, 0 bytes
// CHECK:       decision: allocation: freed: live-range-ended, 0 bytes
// CHECK-LABEL: func.func @elements(
// CHECK-COUNT-3: memref.dealloc
func.func @elements(%v: vector<4xf32>, %s: vector<[4]xf32>, %m: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<3xvector<4xf32>>
  memref.store %v, %a[%c0] : memref<3xvector<4xf32>>
  %b = memref.alloc() : memref<3xvector<[4]xf32>>
  memref.store %s, %b[%c0] : memref<3xvector<[4]xf32>>
  %c = memref.alloc() : memref<3xmemref<4xf32>>
  memref.store %m, %c[%c0] : memref<3xmemref<4xf32>>
  return
}

// -----

// No elements, and no dimensions.
// CHECK:       decision: allocation: freed: live-range-ended, 0 bytes
// CHECK:       decision: allocation: freed: live-range-ended, 4 bytes
// CHECK-LABEL: func.func @small(
func.func @small(%x: memref<0x4xf32>, %y: memref<f32>) {
  %a = memref.alloc() : memref<0x4xf32>
  memref.copy %x, %a : memref<0x4xf32> to memref<0x4xf32>
  %b = memref.alloc() : memref<f32>
  memref.copy %y, %b : memref<f32> to memref<f32>
  return
}

// -----

// What has no rank is copied where it had one.
// CHECK-LABEL: func.func @rank_given_up(
// CHECK:         memref.copy %arg0, [[A:%.*]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT:    [[R:%.*]] = memref.cast [[A]] : memref<4xf32> to memref<*xf32>
// CHECK-NEXT:    return [[R]]
func.func @rank_given_up(%x: memref<4xf32>) -> memref<*xf32> {
  %u = memref.cast %x : memref<4xf32> to memref<*xf32>
  return %u : memref<*xf32>
}

// -----

// Memory that nobody uses goes, with all that frees it.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @unused(
// CHECK-NOT:     memref
// CHECK:         return
func.func @unused(%p: i1) {
  %e = memref.alloc() : memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  %v = memref.cast %a : memref<4xf32> to memref<?xf32>
  scf.if %p {
    memref.dealloc %v : memref<?xf32>
  } else {
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// -----

// What other memory points to is kept: %a alone is freed, where it is not what is passed on.
// CHECK-LABEL: func.func @pointed_to(
// CHECK:         [[A:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
// CHECK:         scf.if
// CHECK:           memref.dealloc [[A]]
// CHECK-NOT:     memref.dealloc
func.func @pointed_to(%p: i1, %x: memref<4xf32>, %y: memref<4xf32>, %table: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r = scf.if %p -> memref<4xf32> {
    %w = memref.alloc() : memref<4xf32>
    memref.store %w, %table[%c0] : memref<1xmemref<4xf32>>
    scf.yield %w : memref<4xf32>
  } else {
    scf.yield %a : memref<4xf32>
  }
  memref.copy %r, %x : memref<4xf32> to memref<4xf32>
  memref.store %b, %table[%c0] : memref<1xmemref<4xf32>>
  return
}
