// Options of one-shot bufferization that leave some ops their tensors, each with memory on its other side.
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-one-shot-bufferize="allow-unknown-ops dialect-filter=tensor,bufferization" | FileCheck %s --check-prefix=TENSOR
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-one-shot-bufferize="allow-unknown-ops dialect-filter=linalg,bufferization,func results=returned" | FileCheck %s --check-prefix=LINALG
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-one-shot-bufferize="allow-unknown-ops unknown-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=UNKNOWN

// TENSOR-LABEL: func.func @filled(
// TENSOR:         linalg.fill ins(%cst : f32) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
// TENSOR:         memref.load
// LINALG-LABEL: func.func @filled(%arg0: memref<8xf32>, %arg1: index) -> (memref<8xf32>, f32)
// LINALG:         linalg.fill ins(%cst : f32) outs(%alloc : memref<8xf32>)
// LINALG:         tensor.extract
func.func @filled(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, f32) {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %x[%n] : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, f32
}

// -----

// What an op that nobody describes takes becomes a tensor for it, and what it makes is read where it is, without a copy.
// UNKNOWN-LABEL: func.func @unknown(
// UNKNOWN:         [[T:%.+]] = bufferization.to_tensor %arg0
// UNKNOWN-NEXT:    [[Y:%.+]] = "toy.op"([[T]])
// UNKNOWN:         bufferization.to_buffer [[Y]] read_only : tensor<8xf32> to memref<8xf32>
// UNKNOWN-NOT:     bufferization.to_tensor
// UNKNOWN:         [[M:%.+]] = "toy.make"()
// UNKNOWN-NOT:     bufferization.to_tensor
// UNKNOWN:         [[B:%.+]] = bufferization.to_buffer [[M]] read_only
// UNKNOWN-NOT:     bufferization.to_tensor
// UNKNOWN:         linalg.add ins(%alloc, [[B]] : memref<8xf32>, memref<8xf32>)
// UNKNOWN-NOT:     bufferization.to_tensor
func.func @unknown(%x: tensor<8xf32>, %c: f32) -> tensor<8xf32> {
  %0 = "toy.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.fill ins(%c : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %2 = "toy.make"() : () -> tensor<8xf32>
  %3 = linalg.add ins(%0, %2 : tensor<8xf32>, tensor<8xf32>) outs(%1 : tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
