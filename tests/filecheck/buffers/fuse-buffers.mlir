// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-buffers --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// An allocation that is read where it was written goes away with its deallocation.
// CHECK:       decision: result of linalg.generic: fused: single-reader, 16 bytes (linalg.generic at
// CHECK-LABEL: func.func @private(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[R:%.*]]: memref<4xf32> {llvm.noalias})
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : memref<4xf32>) outs([[R]] : memref<4xf32>) {
// CHECK:           math.exp
// CHECK-NEXT:      math.sqrt
// CHECK-NOT:     memref.
// CHECK:         return
func.func @private(%x: memref<4xf32>, %r: memref<4xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// `[0][3]` and `[3][3]` of one base have nothing in common. What others may read is still written.
// CHECK:       decision: result of linalg.generic: fused: read-as-written, 12 bytes
// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    [[X:%.*]]: memref<3xf32> {llvm.noalias}, [[B:%.*]]: memref<6xf32>)
// CHECK:         [[V:%.*]] = memref.subview [[B]][0] [3] [1]
// CHECK:         [[W:%.*]] = memref.subview [[B]][3] [3] [1]
// CHECK:         linalg.generic {{.*}} ins([[X]] : memref<3xf32>) outs([[V]], [[W]] :
// CHECK:           [[E:%.*]] = math.exp
// CHECK-NEXT:      [[S:%.*]] = math.sqrt [[E]]
// CHECK-NEXT:      linalg.yield [[E]], [[S]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @apart(%x: memref<3xf32> {llvm.noalias}, %b: memref<6xf32>) {
  %v = memref.subview %b[0] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1]>>
  %w = memref.subview %b[3] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<3xf32>) outs(%v : memref<3xf32, strided<[1]>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%v : memref<3xf32, strided<[1]>>) outs(%w : memref<3xf32, strided<[1], offset: 3>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// `[0][5]` and `[3][5]` overlap, so the second loop must not begin before the first has ended.
// CHECK:       decision: result of linalg.generic: not fused: may-overlap, 20 bytes (memref.subview [0] [5] [1] at {{.*}}, memref.subview [3] [5] [1] at
// CHECK-LABEL: func.func @overlapping(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           math.sqrt
func.func @overlapping(%x: memref<5xf32> {llvm.noalias}, %b: memref<8xf32>) {
  %v = memref.subview %b[0] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1]>>
  %w = memref.subview %b[3] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<5xf32>) outs(%v : memref<5xf32, strided<[1]>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%v : memref<5xf32, strided<[1]>>) outs(%w : memref<5xf32, strided<[1], offset: 3>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 2: elements that were written by another iteration.
// CHECK:       decision: result of linalg.generic: not fused: may-overlap, 20 bytes (memref.subview [0] [5] [1] at {{.*}}, memref.subview [3] [5] [1] at
// CHECK-LABEL: func.func @reads_overlapping(
// CHECK-COUNT-2: linalg.generic
func.func @reads_overlapping(%x: memref<5xf32> {llvm.noalias}, %b: memref<8xf32>, %r: memref<5xf32> {llvm.noalias}) {
  %v = memref.subview %b[0] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1]>>
  %w = memref.subview %b[3] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<5xf32>) outs(%v : memref<5xf32, strided<[1]>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : memref<5xf32, strided<[1], offset: 3>>) outs(%r : memref<5xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Two arguments may be the same memory, unless one is marked.
// CHECK:       decision: result of linalg.generic: not fused: may-overlap, 16 bytes (argument 0 at {{.*}}, argument 2 at
// CHECK:       decision: result of linalg.generic: fused: read-as-written
// CHECK-LABEL: func.func @arguments(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @marked(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @arguments(%x: memref<4xf32>, %a: memref<4xf32> {llvm.noalias}, %r: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}
func.func @marked(%x: memref<4xf32>, %a: memref<4xf32> {llvm.noalias}, %r: memref<4xf32> {llvm.noalias}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// In place: the same element in the matching iteration. What the second op overwrites is not written before.
// CHECK:       decision: result of linalg.generic: fused: single-reader
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    [[A:%.*]]: memref<4xf32>)
// CHECK:         linalg.generic {{.*}} ins([[A]] : memref<4xf32>) outs([[A]] : memref<4xf32>)
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @in_place(%a: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = arith.addf %a0, %o : f32
    linalg.yield %k : f32
  }
  return
}
