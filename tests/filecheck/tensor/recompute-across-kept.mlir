// RUN: %hotdesk-opt %s --split-input-file --hotdesk-recompute-across="across=4 least-bytes=128 elementwise" | FileCheck %s

// What reads a value late by a view of it reads the one that is made again.
// CHECK-LABEL: func.func @by_a_view(
// CHECK:         linalg.broadcast
// CHECK:         linalg.map { arith.mulf }
// CHECK:         [[AGAIN:%.*]] = linalg.broadcast
// CHECK-NOT:     linalg.broadcast
// CHECK:         tensor.extract_slice [[AGAIN]][4, 0]
func.func @by_a_view(%t: tensor<8xf32>, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %h = tensor.empty() : tensor<4x8xf32>
  %a = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = linalg.map { arith.mulf } ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %p = linalg.map { math.exp } ins(%q : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.addf } ins(%a, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %v = tensor.extract_slice %a[4, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %s = linalg.map { math.tanh } ins(%v : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>)
  return %r, %q, %s : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}

// -----

// Where the view begins is known later only, so the value is kept.
// CHECK-LABEL: func.func @by_a_view_known_later(
// CHECK:         [[KEPT:%.*]] = linalg.broadcast
// CHECK-NOT:     linalg.broadcast
// CHECK:         tensor.extract_slice [[KEPT]][%{{.*}}, 0]
func.func @by_a_view_known_later(%t: tensor<8xf32>, %y: tensor<8x8xf32>, %i: tensor<index>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %h = tensor.empty() : tensor<4x8xf32>
  %a = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = linalg.map { arith.mulf } ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %p = linalg.map { math.exp } ins(%q : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.addf } ins(%a, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %o = tensor.extract %i[] : tensor<index>
  %v = tensor.extract_slice %a[%o, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %s = linalg.map { math.tanh } ins(%v : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>)
  return %r, %q, %s : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}

// -----

// The tensor that it is made of lies in memory, which is written in between.
// CHECK-LABEL: func.func @behind_what_writes_memory(
// CHECK:         [[KEPT:%.*]] = linalg.broadcast
// CHECK-NOT:     linalg.broadcast
// CHECK:         tensor.extract_slice [[KEPT]][4, 0]
func.func @behind_what_writes_memory(%m: memref<8xf32>, %y: tensor<8x8xf32>, %z: f32, %c: index)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %t = bufferization.to_tensor %m restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = linalg.map { arith.mulf } ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  memref.store %z, %m[%c] : memref<8xf32>
  %p = linalg.map { math.exp } ins(%q : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.addf } ins(%a, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %h = tensor.empty() : tensor<4x8xf32>
  %v = tensor.extract_slice %a[4, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %s = linalg.map { math.tanh } ins(%v : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>)
  return %r, %q, %s : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
