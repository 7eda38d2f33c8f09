// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-copy-removal{arguments-overlap=false})' --print-decisions 2>&1 | FileCheck %s --check-prefix=APART

// Where the target does not serve as the source, by constraint.

// Constraint 1: what is copied is a part of an allocation.
// CHECK:       decision: copy: copied: not-allocated-here, 16 bytes
// CHECK-LABEL: func.func @target_1(
// CHECK:         memref.copy
func.func @target_1(%z: f32, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %v, %y : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 1: the source is returned.
// CHECK:       decision: copy: copied: leaves-scope, 32 bytes
// CHECK-LABEL: func.func @target_1_leaves(
// CHECK:         memref.copy
func.func @target_1_leaves(%z: f32, %y: memref<8xf32>) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  return %a : memref<8xf32>
}

// -----

// Constraint 2: where the target lies is not known while the source is made.
// CHECK:       decision: copy: copied: destination-later, 16 bytes
// CHECK-LABEL: func.func @target_2(
// CHECK:         memref.copy
func.func @target_2(%z: f32, %k: memref<index>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
  %i = memref.load %k[] : memref<index>
  %v = memref.subview %y[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.copy %a, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// Constraint 3: the target is read in between.
// CHECK:       decision: copy: copied: touched-between, 32 bytes (memref.copy at {{.*}}, linalg.exp at
// CHECK-LABEL: func.func @target_3(
// CHECK:         memref.copy
func.func @target_3(%z: f32, %w: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  linalg.exp ins(%y : memref<8xf32>) outs(%w : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 3: should %x be %y, a product would read what it has overwritten. With arguments that do not overlap it may go.
// CHECK:       decision: copy: copied: touched-between, 64 bytes (memref.copy at {{.*}}, linalg.matmul at
// CHECK-LABEL: func.func @target_3_product(
// CHECK:         memref.copy
// APART:       decision: copy: removed: target-reused, 64 bytes
// APART-LABEL: func.func @target_3_product(
// APART-NOT:     memref.copy
// APART:         return
func.func @target_3_product(%z: f32, %x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4x4xf32>)
  linalg.matmul ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  memref.copy %a, %y : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// Constraint 3: a transposition reads other elements than it writes.
// CHECK:       decision: copy: copied: touched-between, 64 bytes (memref.copy at {{.*}}, linalg.generic at
// CHECK-LABEL: func.func @target_3_transposed(
// CHECK:         memref.copy
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
func.func @target_3_transposed(%x: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %e = math.exp %p : f32
    linalg.yield %e : f32
  }
  memref.copy %a, %x : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// Constraint 4: the source is used afterwards, and written.
// CHECK:       decision: copy: copied: still-used, 32 bytes (memref.copy at {{.*}}, linalg.exp at
// CHECK-LABEL: func.func @target_4(
// CHECK:         memref.copy
func.func @target_4(%z: f32, %w: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.add ins(%a, %y : memref<8xf32>, memref<8xf32>) outs(%w : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 5: the source is reshaped, which takes no strides.
// CHECK:       decision: copy: copied: other-type, 16 bytes
// CHECK-LABEL: func.func @target_5(
// CHECK:         memref.copy
func.func @target_5(%z: f32, %y: memref<8xf32>) {
  %v = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %a = memref.alloc() : memref<4xf32>
  %b = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<2x2xf32>)
  memref.copy %a, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// Constraint 6: what frees the source may free another buffer.
// CHECK:       decision: copy: copied: freed-elsewhere, 32 bytes
// CHECK-LABEL: func.func @target_6(
// CHECK:         memref.copy
func.func @target_6(%z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  %v = memref.cast %a : memref<8xf32> to memref<?xf32>
  memref.dealloc %v : memref<?xf32>
  return
}

// -----

// Constraint 3: the payload reads elements of the target that it has overwritten.
// CHECK:       decision: copy: copied: touched-between, 32 bytes (memref.copy at {{.*}}, linalg.generic at
// CHECK-LABEL: func.func @target_3_payload(
// CHECK:         memref.copy
#id = affine_map<(i) -> (i)>
func.func @target_3_payload(%y: memref<8xf32>) {
  %c7 = arith.constant 7 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %e = memref.load %y[%j] : memref<8xf32>
    linalg.yield %e : f32
  }
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 3: the elementwise op writes the source by a view in which each element is another one.
// CHECK:       decision: copy: copied: touched-between, 64 bytes (memref.copy at {{.*}}, linalg.exp at
// CHECK-LABEL: func.func @target_3_view(
// CHECK:         memref.copy
func.func @target_3_view(%y: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  %t = memref.transpose %a (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  linalg.exp ins(%y : memref<4x4xf32>) outs(%t : memref<4x4xf32, strided<[1, 4]>>)
  memref.copy %a, %y : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// Constraint 5: the target need not be aligned as the source is said to be.
// CHECK:       decision: copy: copied: alignment-assumed, 32 bytes (memref.copy at {{.*}}, memref.assume_alignment at
// CHECK-LABEL: func.func @target_5_alignment(
// CHECK:         memref.copy
func.func @target_5_alignment(%z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  %b = memref.assume_alignment %a, 64 : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}
