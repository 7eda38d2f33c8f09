// RUN: %hotdesk-opt %s --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// By columns: no strides tell the layout of an affine map. The op that fills it takes any, and fills the target.
// CHECK:       decision: copy: removed: target-reused, 64 bytes
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    linalg.fill ins(%{{.*}} : f32) outs(%arg1 : memref<4x4xf32>)
// CHECK-NEXT:    return
func.func @main(%c: f32, %o: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32, affine_map<(i, j) -> (j, i)>>
  linalg.fill ins(%c : f32) outs(%a : memref<4x4xf32, affine_map<(i, j) -> (j, i)>>)
  memref.copy %a, %o : memref<4x4xf32, affine_map<(i, j) -> (j, i)>> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32, affine_map<(i, j) -> (j, i)>>
  return
}
