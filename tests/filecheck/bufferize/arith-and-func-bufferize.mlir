// RUN: %hotdesk-opt %s --split-input-file --hotdesk-arith-bufferize --hotdesk-func-bufferize | FileCheck %s

// A constant is a global, and the boundary has memrefs; other ops keep their tensors.
// CHECK:       memref.global "private" constant @constant_0 : memref<4xf32> = dense<1.000000e+00>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32> {test.first}, [[N:%.*]]: index) -> (memref<4xf32>, index, memref<4xf32>) {
// CHECK-NEXT:    [[T:%.*]] = bufferization.to_tensor [[X]] : memref<4xf32> to tensor<4xf32>
// CHECK-NEXT:    [[G:%.*]] = memref.get_global @constant_0
// CHECK-NEXT:    [[C:%.*]] = bufferization.to_tensor [[G]]
// CHECK-NEXT:    [[R:%.*]] = linalg.map { arith.addf } ins([[T]], [[C]] : tensor<4xf32>, tensor<4xf32>) outs([[T]] :
// CHECK-NEXT:    [[B:%.*]] = bufferization.to_buffer [[R]]
// CHECK-NEXT:    return [[B]], [[N]], [[X]] : memref<4xf32>, index, memref<4xf32>
func.func @main(%x: tensor<4xf32> {test.first}, %n: index) -> (tensor<4xf32>, index, tensor<4xf32>) {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %r = linalg.map { arith.addf } ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %r, %n, %x : tensor<4xf32>, index, tensor<4xf32>
}

// -----

// Calls, declarations and branches follow.
// CHECK-LABEL: func.func private @elsewhere(memref<?xf32>, i1) -> (memref<?xf32>, i1)
// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    [[X:%.*]]: memref<?xf32>, [[B:%.*]]: i1) -> memref<?xf32> {
// CHECK:         [[R:%.*]]:2 = call @elsewhere([[X]], [[B]]) : (memref<?xf32>, i1) -> (memref<?xf32>, i1)
// CHECK:         cf.cond_br [[R]]#1, ^[[ONE:.*]]([[R]]#0 : memref<?xf32>), ^[[ONE]]([[X]] : memref<?xf32>)
// CHECK:       ^[[ONE]]([[Y:%.*]]: memref<?xf32>):
// CHECK:         return [[Y]] : memref<?xf32>
func.func private @elsewhere(tensor<?xf32>, i1) -> (tensor<?xf32>, i1)
func.func @branches(%x: tensor<?xf32>, %b: i1) -> tensor<?xf32> {
  %r, %c = call @elsewhere(%x, %b) : (tensor<?xf32>, i1) -> (tensor<?xf32>, i1)
  cf.cond_br %c, ^one(%r : tensor<?xf32>), ^one(%x : tensor<?xf32>)
^one(%y: tensor<?xf32>):
  return %y : tensor<?xf32>
}

// -----

// Scalars of tensors' element types are not touched, nor is a function without tensors.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    [[S:%.*]]: f32) -> f32 {
// CHECK-NEXT:    arith.constant 1.000000e+00 : f32
// CHECK-LABEL: func.func @nothing() {
func.func @scalars(%s: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %r = arith.addf %s, %one : f32
  return %r : f32
}
func.func @nothing() {
  return
}
