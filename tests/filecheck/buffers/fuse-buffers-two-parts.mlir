// RUN: %hotdesk-opt %s --hotdesk-fuse-buffers --print-decisions 2>&1 | FileCheck %s

// Two parts of one buffer go away in one fusion; the buffer goes once.
// CHECK:       decision: result of linalg.generic: fused: read-as-written, 12 bytes
// CHECK:       decision: result of linalg.generic: fused: single-reader, 12 bytes
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    [[X:%.*]]: memref<3xf32>)
// CHECK-NEXT:    [[O:%.*]] = memref.alloc() : memref<3xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : memref<3xf32>) outs([[O]] : memref<3xf32>)
// CHECK:           arith.negf
// CHECK-NEXT:      arith.negf
// CHECK-NEXT:      arith.mulf
// CHECK-NOT:     memref.
// CHECK:         return [[O]]
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: memref<3xf32>) -> memref<3xf32> {
  %o = memref.alloc() : memref<3xf32>
  %base = memref.alloc() : memref<10xf32>
  %v1 = memref.subview %base[0][3][1] : memref<10xf32> to memref<3xf32, strided<[1]>>
  %v2 = memref.subview %base[3][3][1] : memref<10xf32> to memref<3xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps=[#id,#id],iterator_types=["parallel"]} ins(%x: memref<3xf32>) outs(%v2 : memref<3xf32, strided<[1], offset: 3>>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
  }
  linalg.generic {indexing_maps=[#id,#id],iterator_types=["parallel"]} ins(%v2: memref<3xf32, strided<[1], offset: 3>>) outs(%v1: memref<3xf32, strided<[1]>>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
  }
  linalg.generic {indexing_maps=[#id,#id],iterator_types=["parallel"]} ins(%v1: memref<3xf32, strided<[1]>>) outs(%o: memref<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.mulf %in, %in : f32
      linalg.yield %n : f32
  }
  return %o : memref<3xf32>
}

// What a loop passes on is used by it, though nobody uses what comes out.
// CHECK-LABEL: func.func @passed_on(
// CHECK:         [[A:%.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} outs([[A]], %{{.*}} :
// CHECK:         scf.for {{.*}} = [[A]]
func.func @passed_on(%x: memref<3xf32> {llvm.noalias}, %r: memref<3xf32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 2.0 : f32
  %a = memref.alloc() : memref<3xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<3xf32>)
  linalg.add ins(%a, %x : memref<3xf32>, memref<3xf32>) outs(%r : memref<3xf32>)
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (memref<3xf32>) {
    linalg.copy ins(%b : memref<3xf32>) outs(%x : memref<3xf32>)
    scf.yield %b : memref<3xf32>
  }
  return
}
