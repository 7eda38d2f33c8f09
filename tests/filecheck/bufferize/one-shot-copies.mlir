// Options of one-shot bufferization that say what is copied and what loops may yield.
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=results-in-donated | FileCheck %s --check-prefix=HELD
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="results=returned copy-before-write" | FileCheck %s --check-prefix=COPIED
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="results=returned no-analysis-func-filter=filled" | FileCheck %s --check-prefix=COPIED
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s --check-prefix=NEW
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="allow-return-allocs-from-loops=false check-parallel-regions=false" | FileCheck %s --check-prefix=BACK
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="test-analysis-only print-conflicts dump-alias-sets" | FileCheck %s --check-prefix=TOLD

// What is written is copied first, or not.
// HELD-LABEL:   func.func @filled(
// HELD-NOT:       memref.alloc
// HELD:           linalg.fill ins(%cst : f32) outs(%arg0 : memref<8xf32>)
// COPIED-LABEL: func.func @filled(
// COPIED:         linalg.fill ins(%cst : f32) outs(%alloc : memref<8xf32>)
// TOLD-LABEL:   func.func @filled(
// TOLD-SAME:      __bbarg_alias_set_attr__ = {{\[\[\[\[}}"%arg0", "%0"], []]]]
// TOLD:           __opresult_alias_set_attr__ = {{\[\[}}"%arg0", "%0"]]
func.func @filled(%x: tensor<8xf32> {hotdesk.donated}, %n: index) -> (tensor<8xf32>, f32) {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %0[%n] : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, f32
}

// TOLD-LABEL: func.func @kept(
// TOLD:         "W_0[NOT-WRITABLE: bbArg 0]"
// TOLD:         tensor.extract %arg0
func.func @kept(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, f32) {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %x[%n] : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, f32
}

// What a loop only overwrites stays in its memory.
// NEW-LABEL:  func.func @overwritten(
// NEW:          scf.for
// NEW-NOT:      memref.alloc
// NEW:          return
// BACK-LABEL: func.func @overwritten(
// BACK:         scf.for
// BACK-NOT:     memref.alloc
// BACK:         return
func.func @overwritten(%x: tensor<8xf32>, %n: index, %c: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// New memory in each iteration, copied once behind the loop; or copied in front of it and back in each.
// NEW-LABEL:  func.func @reversed(
// NEW:          scf.for
// NEW:            memref.alloc
// NEW-NOT:        linalg.yield %in
// NEW:            scf.yield
// NEW:          linalg.yield %in : f32
// BACK-LABEL: func.func @reversed(
// BACK:         linalg.yield %in : f32
// BACK:         scf.for
// BACK:           memref.alloc
// BACK:           linalg.yield %in : f32
// BACK-NOT:     linalg.yield %in : f32
// BACK:         return
func.func @reversed(%x: tensor<8xf32>, %n: index, %c: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %z = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (7 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
    } ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %c : f32
      linalg.yield %sum : f32
    } -> tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Iterations that run in order share memory.
// NEW-LABEL: func.func @threads(
// NEW:         memref.alloc
// NEW-NOT:     memref.alloc
// NEW:         return
// BACK-LABEL:  func.func @threads(
// BACK-NOT:      memref.alloc
// BACK:          return
func.func @threads(%x: tensor<8xf32> {hotdesk.donated}, %c: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8xf32> {
    %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    %s = tensor.extract_slice %0[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
