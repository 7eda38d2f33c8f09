// RUN: %hotdesk-opt %s --pass-pipeline='builtin.module(hotdesk-fuse-buffers{arguments-overlap=false})' --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// Whoever calls promises that no two arguments overlap.
// CHECK:       decision: result of linalg.generic: fused: read-as-written, 4*(dim 0 of %a) bytes (linalg.generic at
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: memref<?xf32>, [[A:%.*]]: memref<?xf32>, [[R:%.*]]: memref<?xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : memref<?xf32>) outs([[A]], [[R]] : memref<?xf32>, memref<?xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @main(%x: memref<?xf32>, %a: memref<?xf32>, %r: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%a : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<?xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.sqrt %p : f32
    linalg.yield %t : f32
  }
  return
}
