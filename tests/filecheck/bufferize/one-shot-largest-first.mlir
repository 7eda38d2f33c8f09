// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize="analysis-heuristic=largest-first" | FileCheck %s

// What is overwritten unread needs no copy, however large it is: it has new memory, and the part is written where it lies.

// CHECK-LABEL: func.func @unread(
// CHECK-SAME:    %[[X:.*]]: memref<16xf32> {hotdesk.donated}
// CHECK:         %[[PART:.*]] = memref.subview %[[X]]
// CHECK-NOT:     linalg.generic
// CHECK:         memref.store %{{.*}}, %[[PART]]
// CHECK:         %[[NEW:.*]] = memref.alloc() : memref<16xf32>
// CHECK:         linalg.fill ins(%{{.*}}) outs(%[[NEW]] : memref<16xf32>)
func.func @unread(%x: tensor<16xf32> {hotdesk.donated}, %v: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[0] [2] [1] : tensor<16xf32> to tensor<2xf32>
  %y = tensor.insert %v into %s[%c1] : tensor<2xf32>
  %z = linalg.fill ins(%v : f32) outs(%x : tensor<16xf32>) -> tensor<16xf32>
  %a = tensor.extract %y[%c0] : tensor<2xf32>
  %b = tensor.extract %z[%c1] : tensor<16xf32>
  return %a, %b : f32, f32
}

// -----

// Of two that are read, the smaller one is copied: 8 bytes, not 64.

// CHECK-LABEL: func.func @smaller(
// CHECK-SAME:    %[[X:.*]]: memref<2x8xf32> {hotdesk.donated}
// CHECK:         %[[PART:.*]] = memref.subview %[[X]]
// CHECK:         %[[COPY:.*]] = memref.alloc() : memref<2xf32>
// CHECK:         ins(%[[PART]] : {{.*}}) outs(%[[COPY]] : memref<2xf32>)
// CHECK:         outs(%[[COPY]], %[[X]] : memref<2xf32>, memref<2x8xf32>)
// CHECK-NOT:     memref.alloc
func.func @smaller(%x: tensor<2x8xf32> {hotdesk.donated}) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %s = tensor.extract_slice %x[0, 0] [2, 1] [1, 1] : tensor<2x8xf32> to tensor<2xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "reduction"]}
      outs(%s, %x : tensor<2xf32>, tensor<2x8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %one : f32
    %u = arith.addf %q, %one : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<2xf32>, tensor<2x8xf32>)
  %a = tensor.extract %r#0[%c0] : tensor<2xf32>
  %b = tensor.extract %r#1[%c0, %c0] : tensor<2x8xf32>
  return %a, %b : f32, f32
}
