// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-buffers --print-decisions 2>&1 | FileCheck %s

// Named ops on memory become one loop as generic ones do.
// CHECK:       decision: result of linalg.exp: fused: single-reader, 16 bytes
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[R:%.*]]: memref<4xf32> {llvm.noalias})
// CHECK-NEXT:    linalg.generic {{.*}} outs([[R]] :
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     memref.
// CHECK:         return
func.func @chain(%x: memref<4xf32>, %r: memref<4xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.add ins(%a, %x : memref<4xf32>, memref<4xf32>) outs(%r : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// A contraction keeps its name (rule 8).
// CHECK:       decision: result of linalg.exp: not fused: not-elementwise
// CHECK-LABEL: func.func @product(
// CHECK:         linalg.exp
// CHECK:         linalg.matmul
func.func @product(%x: memref<4x4xf32>, %w: memref<4x4xf32>, %r: memref<4x4xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.exp ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  linalg.matmul ins(%a, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%r : memref<4x4xf32>)
  return
}

// -----

// Two views that may overlap are both named (rule 3).
// CHECK:       decision: result of linalg.exp: not fused: may-overlap, 12 bytes (memref.subview [0] [3] [1] at {{.*}}, memref.subview [1] [3] [1] at
// CHECK-LABEL: func.func @overlapping(
// CHECK:         linalg.exp
// CHECK:         linalg.abs
func.func @overlapping(%x: memref<3xf32> {llvm.noalias}, %m: memref<4xf32>) {
  %a = memref.subview %m[0] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1]>>
  %b = memref.subview %m[1] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1], offset: 1>>
  linalg.exp ins(%x : memref<3xf32>) outs(%a : memref<3xf32, strided<[1]>>)
  linalg.abs ins(%a : memref<3xf32, strided<[1]>>) outs(%b : memref<3xf32, strided<[1], offset: 1>>)
  return
}
