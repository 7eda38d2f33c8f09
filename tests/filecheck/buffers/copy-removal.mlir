// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// The source serves: the copy goes with its allocation and with the source's deallocation.
// CHECK:       decision: copy: removed: source-reused
// CHECK-LABEL: func.func @dynamic_allocation(
// CHECK:         [[A:%.*]] = memref.alloc({{.*}}) : memref<?x?xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.copy
// CHECK-NOT:     memref.dealloc
// CHECK:         return [[A]] : memref<?x?xf32>
func.func @dynamic_allocation(%m: index, %n: index, %z: f32) -> memref<?x?xf32> {
  %0 = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%z : f32) outs(%0 : memref<?x?xf32>)
  %c0 = arith.constant 0 : index
  %d0 = memref.dim %0, %c0 : memref<?x?xf32>
  %c1 = arith.constant 1 : index
  %d1 = memref.dim %0, %c1 : memref<?x?xf32>
  %1 = memref.alloc(%d0, %d1) : memref<?x?xf32>
  linalg.copy ins(%0 : memref<?x?xf32>) outs(%1 : memref<?x?xf32>)
  memref.dealloc %0 : memref<?x?xf32>
  return %1 : memref<?x?xf32>
}

// -----

// The target serves. Should %x be %result, each element is read before it is overwritten.
// CHECK:       decision: copy: removed: target-reused, 8 bytes
// CHECK-LABEL: func.func @reuseTarget(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<2xf32>, [[R:%[^ ]*]]: memref<2xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : memref<2xf32>) outs([[R]] : memref<2xf32>)
// CHECK-NOT:     memref
// CHECK:         return
#id = affine_map<(i) -> (i)>
func.func @reuseTarget(%x: memref<2xf32>, %result: memref<2xf32>) {
  %temp = memref.alloc() : memref<2xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<2xf32>) outs(%temp : memref<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  memref.copy %temp, %result : memref<2xf32> to memref<2xf32>
  memref.dealloc %temp : memref<2xf32>
  return
}

// -----

// Of itself, by a view of the whole; and one that is our own elementwise form.
// CHECK-COUNT-2: decision: copy: removed: copy-of-itself
// CHECK-LABEL: func.func @itself(
// CHECK-NOT:     memref.copy
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(i) -> (i)>
func.func @itself(%x: memref<8xf32>) {
  %v = memref.subview %x[0] [8] [1] : memref<8xf32> to memref<8xf32, strided<[1]>>
  memref.copy %v, %x : memref<8xf32, strided<[1]>> to memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Overwritten before anything reads it, or never read at all.
// CHECK-COUNT-2: decision: copy: removed: overwritten-unread
// CHECK-LABEL: func.func @not_read(
// CHECK-NOT:     memref.copy
// CHECK:         linalg.fill
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @not_read(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Read in between by what may be the same argument, or overwritten in part: it stays.
// CHECK-COUNT-2: decision: copy: copied: not-allocated-here
// CHECK-LABEL: func.func @read(
// CHECK-COUNT-2: memref.copy
func.func @read(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>, %w: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%w : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %x, %w : memref<8xf32> to memref<8xf32>
  %v = memref.subview %w[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  linalg.fill ins(%z : f32) outs(%v : memref<4xf32, strided<[1]>>)
  return
}

// -----

// An argument that is read alone serves as its copy; ops that have the copy take a view in its place.
// CHECK-COUNT-2: decision: copy: removed: source-reused, 16 bytes
// CHECK-LABEL: func.func @forwarded(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<4xf32>, [[Y:%[^ ]*]]: memref<8xf32>,
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[Y]][4] [4] [1]
// CHECK-NEXT:    linalg.add ins([[X]], [[V]] :
// CHECK-NEXT:    return
func.func @forwarded(%x: memref<4xf32>, %y: memref<8xf32>, %out: memref<4xf32> {llvm.noalias}) {
  %v = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %v, %b : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
  linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%out : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

// A part of the result is made in its place: the view moves up.
// CHECK:       decision: copy: removed: target-reused, 16 bytes
// CHECK-LABEL: func.func @into_a_part(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<4xf32>, [[OUT:%[^ ]*]]: memref<8xf32>)
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[OUT]][4] [4] [1]
// CHECK-NEXT:    linalg.fill {{.*}} outs([[V]] :
// CHECK-NEXT:    return
func.func @into_a_part(%z: f32, %x: memref<4xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
  %v = memref.subview %out[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %a, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.dealloc %a : memref<4xf32>
  return
}
