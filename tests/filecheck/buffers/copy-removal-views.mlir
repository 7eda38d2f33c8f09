// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// Forwarding through views, and to memrefs of other types.

// Slices of the copy become slices of what was copied, with its strides; and slices of those.
// CHECK:       decision: copy: removed: source-reused, 64 bytes
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8x8xf32>,
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[X]][4, 4] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 36>>
// CHECK-NEXT:    [[R:%.*]] = memref.subview [[V]][1, 0] [1, 4] [1, 1] : memref<4x4xf32, strided<[8, 1], offset: 36>> to memref<4xf32, strided<[1], offset: 44>>
// CHECK-NEXT:    [[S:%.*]] = memref.subview [[R]][2] [2] [1] : memref<4xf32, strided<[1], offset: 44>> to memref<2xf32, strided<[1], offset: 46>>
// CHECK-NEXT:    linalg.exp ins([[S]] :
// CHECK-NEXT:    return
func.func @slices(%x: memref<8x8xf32>, %y: memref<2xf32> {llvm.noalias}) {
  %v = memref.subview %x[4, 4] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 36>>
  %a = memref.alloc() : memref<4x4xf32>
  memref.copy %v, %a : memref<4x4xf32, strided<[8, 1], offset: 36>> to memref<4x4xf32>
  %r = memref.subview %a[1, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 4>>
  %s = memref.subview %r[2] [2] [1] : memref<4xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: 6>>
  linalg.exp ins(%s : memref<2xf32, strided<[1], offset: 6>>) outs(%y : memref<2xf32>)
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// A slice of what is computed is computed in the slice of the target.
// CHECK:       decision: copy: removed: target-reused, 16 bytes
// CHECK-LABEL: func.func @into_slices(
// CHECK-SAME:    [[Z:%[^ ]*]]: f32, [[Y:%[^ ]*]]: memref<8xf32>)
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[Y]][4] [4] [1]
// CHECK-NEXT:    [[H:%.*]] = memref.subview [[V]][2] [2] [1] : memref<4xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: 6>>
// CHECK-NEXT:    linalg.fill ins([[Z]] : f32) outs([[V]] :
// CHECK-NEXT:    linalg.exp ins([[H]] : {{.*}}) outs([[H]] :
// CHECK-NEXT:    return
func.func @into_slices(%z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %h = memref.subview %a[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
  linalg.exp ins(%h : memref<2xf32, strided<[1], offset: 2>>) outs(%h : memref<2xf32, strided<[1], offset: 2>>)
  %v = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %a, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// Sizes that one type shows and the other does not: a cast in between; what is freed is the memory itself.
// CHECK:       decision: copy: removed: source-reused
// CHECK-LABEL: func.func @sizes(
// CHECK:         [[A:%.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:    [[B:%.*]] = memref.cast [[A]] : memref<?xf32> to memref<8xf32>
// CHECK-NEXT:    linalg.exp ins([[B]] : memref<8xf32>)
// CHECK-NEXT:    memref.dealloc [[A]] : memref<?xf32>
// CHECK-NEXT:    return
func.func @sizes(%n: index, %z: f32, %y: memref<8xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  %b = memref.alloc() : memref<8xf32>
  memref.copy %a, %b : memref<?xf32> to memref<8xf32>
  memref.dealloc %a : memref<?xf32>
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// A reshape of the copy asks for rows without gaps.
// CHECK:       decision: copy: copied: other-type, 64 bytes (memref.copy at {{.*}}, memref.collapse_shape at
// CHECK-LABEL: func.func @reshaped(
// CHECK:         memref.copy
func.func @reshaped(%x: memref<8x8xf32>, %y: memref<16xf32> {llvm.noalias}) {
  %v = memref.subview %x[4, 4] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 36>>
  %a = memref.alloc() : memref<4x4xf32>
  memref.copy %v, %a : memref<4x4xf32, strided<[8, 1], offset: 36>> to memref<4x4xf32>
  %r = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  linalg.exp ins(%r : memref<16xf32>) outs(%y : memref<16xf32>)
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// A slice with gaps serves as its copy; what is copied into a reshape is copied into no view of the result, and stays.
// CHECK:       decision: copy: removed: source-reused, 36 bytes
// CHECK-LABEL: func.func @gaps(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @gaps(%x: memref<4x4xf32>, %y: memref<4xf32>) {
  %v = memref.subview %x[1, 1] [3, 3] [1, 1] : memref<4x4xf32> to memref<3x3xf32, strided<[4, 1], offset: 5>>
  %a = memref.alloc() : memref<3x3xf32>
  memref.copy %v, %a : memref<3x3xf32, strided<[4, 1], offset: 5>> to memref<3x3xf32>
  %r = memref.subview %a[1, 0] [2, 2] [1, 2] : memref<3x3xf32> to memref<2x2xf32, strided<[3, 2], offset: 3>>
  %t = memref.alloc() : memref<2x2xf32>
  linalg.exp ins(%r : memref<2x2xf32, strided<[3, 2], offset: 3>>) outs(%t : memref<2x2xf32>)
  %f = memref.collapse_shape %t [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  memref.copy %f, %y : memref<4xf32> to memref<4xf32>
  memref.dealloc %t : memref<2x2xf32>
  memref.dealloc %a : memref<3x3xf32>
  return
}

// -----

// The op writes through a transposition: it would read other elements of %y than it has overwritten.
// CHECK-LABEL: func.func @turned(
// CHECK-COUNT-2: memref.copy
func.func @turned(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  memref.copy %x, %y : memref<4x4xf32> to memref<4x4xf32>
  %a = memref.alloc() : memref<4x4xf32>
  %t = memref.transpose %a (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  linalg.exp ins(%y : memref<4x4xf32>) outs(%t : memref<4x4xf32, strided<[1, 4]>>)
  memref.copy %a, %y : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32>
  return
}
