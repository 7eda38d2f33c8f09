// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=results-in-donated=true | FileCheck %s --check-prefix=HELD

// What overwrites a donated argument unread, and is returned, is computed in the result's memory, unless it may stay in the argument.
// CHECK-LABEL: func.func @unread(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, %{{[^ ]*}}: memref<8xf32> {hotdesk.donated}, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK-NEXT:    linalg.exp ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} outs([[R]] : memref<8xf32>)
// CHECK-NOT:     ins(
// CHECK:         return
// HELD-LABEL: func.func @unread(
// HELD-SAME:     [[X:%[^ ]*]]: memref<8xf32>, [[A:%[^ ]*]]: memref<8xf32> {hotdesk.donated
// HELD-NEXT:     linalg.exp ins([[X]] : memref<8xf32>) outs([[A]] : memref<8xf32>)
// HELD-NEXT:     linalg.generic {{.*}} outs([[A]] : memref<8xf32>)
// HELD-NOT:      ins(
// HELD:          return
func.func @unread(%x: tensor<8xf32>, %a: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : tensor<8xf32>) {
  ^bb0(%o: f32):
    %s = arith.mulf %o, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// What is not returned still overwrites the argument.
// CHECK-LABEL: func.func @not_returned(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, [[A:%[^ ]*]]: memref<8xf32> {hotdesk.donated}, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK-NEXT:    linalg.exp ins([[X]] : memref<8xf32>) outs([[A]] : memref<8xf32>)
// CHECK-NEXT:    linalg.square ins([[A]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    return
// HELD-LABEL: func.func @not_returned(
func.func @not_returned(%x: tensor<8xf32>, %a: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.square ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// Nothing is copied for a result without contents, and it leaves the memory that it shares to one that has.
// CHECK-LABEL: func.func @without_contents(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, %{{[^ ]*}}: i1, %{{[^ ]*}}: memref<8xf32> {bufferize.result = 0 : {{[^,]*}}, {{[^,]*}}, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result = 1
// CHECK-NEXT:    linalg.exp ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    return
// HELD-LABEL: func.func @without_contents(
func.func @without_contents(%x: tensor<8xf32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = arith.select %c, %e, %y : tensor<8xf32>
  return %e, %r : tensor<8xf32>, tensor<8xf32>
}
