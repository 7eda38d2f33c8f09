// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-elementwise --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// Rule 1: on memory the write of one op may change what another one reads; hotdesk-fuse-buffers looks into that.
// CHECK:       decision: result of linalg.generic: not fused: not-pure-tensors, 16 bytes (linalg.generic at {{.*}}, linalg.generic at
// CHECK-LABEL: func.func @on_memory(
// CHECK-COUNT-2: linalg.generic
func.func @on_memory(%x: memref<4xf32>, %a: memref<4xf32>, %r: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 2.
// CHECK:       decision: result of linalg.generic: not fused: unranked-tensor
// CHECK-LABEL: func.func @unranked(
// CHECK-COUNT-2: linalg.generic
func.func @unranked(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %u = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  %v = tensor.cast %u : tensor<*xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Rules 3 and 5: a sum, and a value that is accumulated into.
// CHECK:       decision: result of linalg.generic: not fused: producer-reduces
// CHECK:       decision: result of linalg.generic: not fused: accumulated-into
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-3: linalg.generic
func.func @sums(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x3xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x3xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %c, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
#diagonal = affine_map<(i) -> (i, i)>
#window = affine_map<(i, j) -> (i + j)>
#second = affine_map<(i, j) -> (j)>

// Rule 4: elements on the diagonal, and windows.
// CHECK:       decision: result of linalg.generic: not fused: not-a-permutation
// CHECK:       decision: result of linalg.generic: not fused: not-a-permutation
// CHECK-LABEL: func.func @other_elements(
// CHECK-COUNT-4: linalg.generic
func.func @other_elements(%x: tensor<4x4xf32>, %y: tensor<5xf32>, %z: tensor<2xf32>, %w: tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4x2xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#diagonal, #id], iterator_types = ["parallel"]} ins(%a : tensor<4x4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<5xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<5xf32>) outs(%f : tensor<5xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  %g = linalg.generic {indexing_maps = [#window, #second, #both], iterator_types = ["parallel", "parallel"]} ins(%c, %z : tensor<5xf32>, tensor<2xf32>) outs(%w : tensor<4x2xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<4x2xf32>
  return %b, %g : tensor<4xf32>, tensor<4x2xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Rules 6 and 7: the return reads it too; a loop would compute it again and again.
// CHECK:       decision: result of linalg.generic: not fused: multiple-readers, 16 bytes (func.return at
// CHECK:       decision: result of linalg.generic: not fused: different-block
// CHECK-LABEL: func.func @readers(
// CHECK-COUNT-4: linalg.generic
func.func @readers(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.sqrt %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%c, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %a, %b, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Rule 8: the value alone says how many numbers are added up.
// CHECK:       decision: result of linalg.generic: not fused: loop-size-lost
// CHECK-LABEL: func.func @how_many(
// CHECK-COUNT-2: linalg.generic
func.func @how_many(%s: f32, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %a = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %s : f32
  } -> tensor<4x?xf32>
  %r = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x?xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
