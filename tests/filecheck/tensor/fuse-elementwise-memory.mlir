// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-elementwise --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// Rule 10: behind the store, the negation would read what was stored.
// CHECK:       decision: result of linalg.generic: not fused: touched-between
// CHECK-LABEL: func.func @written_between(
// CHECK:         linalg.generic
// CHECK:         memref.store
// CHECK:         linalg.generic
func.func @written_between(%m: memref<4xf32>, %v: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %n = arith.negf %p : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  memref.store %v, %m[%c0] : memref<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.exp %p : f32
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 10: what is written in a loop in between is other memory.
// CHECK:       decision: result of linalg.generic: fused: single-reader
// CHECK-LABEL: func.func @other_memory(
// CHECK:         memref.store
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
func.func @other_memory(%v: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<4xf32>
  %other = memref.alloc() : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %n = arith.negf %p : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %other[%i] : memref<4xf32>
  }
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.exp %p : f32
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
