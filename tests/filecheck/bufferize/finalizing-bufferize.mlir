// RUN: not %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-linalg-bufferize,hotdesk-func-bufferize,hotdesk-tensor-bufferize,hotdesk-arith-bufferize,hotdesk-finalizing-bufferize)' --print-decisions 2>&1 | FileCheck %s
// RUN: not %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-tensor-bufferize,hotdesk-arith-bufferize,hotdesk-linalg-bufferize,hotdesk-func-bufferize,hotdesk-finalizing-bufferize)' --print-decisions 2>&1 | FileCheck %s

// In any order: no materialization is left, and a slice is read where it lies.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32>) -> memref<2xf32> {
// CHECK-NOT:     bufferization
// CHECK-NOT:     tensor
// CHECK-DAG:     [[V:%.*]] = memref.subview [[X]][1] [2] [1]
// CHECK-DAG:     [[G:%.*]] = memref.get_global
// CHECK:         linalg.map { arith.addf } ins([[V]], [[G]] : {{.*}} outs([[R:%.*]] : memref<2xf32>)
// CHECK-NEXT:    return [[R]]
func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.map { arith.addf } ins(%s, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>)
  return %r : tensor<2xf32>
}

// -----

// What a boundary or another reader needs contiguous is copied: a slice that is returned.
// CHECK-LABEL: func.func @returned_slice(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32>) -> memref<2xf32> {
// CHECK:         [[V:%.*]] = memref.subview [[X]][1] [2] [1]
// CHECK:         [[A:%.*]] = memref.alloc() : memref<2xf32>
// CHECK:         linalg.generic {{.*}} ins([[V]] : {{.*}} outs([[A]] :
// CHECK:         return [[A]]
func.func @returned_slice(%x: tensor<8xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @nothing() {
// CHECK-NEXT:    return
func.func @nothing() {
  return
}

// -----

// The op that stayed is named.
// CHECK:       {{.*}}finalizing-bufferize.mlir:{{[0-9]+}}:{{[0-9]+}}: error: op `tensor.cast` still has tensors
func.func @stayed(%x: tensor<8xf32>) -> tensor<*xf32> {
  %r = tensor.cast %x : tensor<8xf32> to tensor<*xf32>
  return %r : tensor<*xf32>
}
