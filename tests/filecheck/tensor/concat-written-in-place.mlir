// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-concat-and-pad --hotdesk-eliminate-empty-tensors --hotdesk-one-shot-bufferize | FileCheck %s

// What is concatenated is computed where it ends up, in rows too: nothing is allocated, nothing copied.
// CHECK-LABEL: func.func @producers_write_their_part(
// CHECK-SAME:      [[X:%[a-z0-9]+]]: memref<2x4xf32>, [[Y:%[a-z0-9]+]]: memref<2x6xf32>, [[R:%[a-z0-9]+]]: memref<2x10xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     memref.copy
// CHECK:         [[A:%.*]] = memref.subview [[R]][0, 0] [2, 4] [1, 1]
// CHECK-NEXT:    linalg.map { math.exp } ins([[X]] : memref<2x4xf32>) outs([[A]] :
// CHECK-NEXT:    [[B:%.*]] = memref.subview [[R]][0, 4] [2, 6] [1, 1]
// CHECK-NEXT:    linalg.map { math.tanh } ins([[Y]] : memref<2x6xf32>) outs([[B]] :
// CHECK-NEXT:    return
func.func @producers_write_their_part(%x: tensor<2x4xf32>, %y: tensor<2x6xf32>) -> tensor<2x10xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %f = tensor.empty() : tensor<2x6xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %b = linalg.map { math.tanh } ins(%y : tensor<2x6xf32>) outs(%f : tensor<2x6xf32>)
  %c = tensor.concat dim(1) %a, %b : (tensor<2x4xf32>, tensor<2x6xf32>) -> tensor<2x10xf32>
  return %c : tensor<2x10xf32>
}

// -----

// A part that is read after it was inserted keeps a buffer of its own; the other one does not need any.
// CHECK-LABEL: func.func @read_again(
// CHECK:         [[M:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.map { math.exp } {{.*}} outs([[M]] :
// CHECK:         linalg.generic {{.*}} ins([[M]] :
// CHECK:         [[B:%.*]] = memref.subview %{{.*}}[4] [6] [1]
// CHECK:         linalg.map { math.tanh } {{.*}} outs([[B]] :
func.func @read_again(%x: tensor<4xf32>, %y: tensor<6xf32>) -> (tensor<10xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<6xf32>
  %g = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %b = linalg.map { math.tanh } ins(%y : tensor<6xf32>) outs(%f : tensor<6xf32>)
  %c = tensor.concat dim(0) %a, %b : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
  %d = linalg.map { math.sin } ins(%a : tensor<4xf32>) outs(%g : tensor<4xf32>)
  return %c, %d : tensor<10xf32>, tensor<4xf32>
}
