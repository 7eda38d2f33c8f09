// Scalars, blocks and declarations beside tensors: what has no memory stays as it is.
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// A scalar stays a result.
// CHECK-LABEL: func.func @scalar_result(%arg0: memref<4xf32>{{.*}}, %arg1: index, %arg2: memref<4xf32> {bufferize.result = 1 : i64
// CHECK:         [[S:%.+]] = memref.load %arg2[%arg1] : memref<4xf32>
// CHECK-NEXT:    return [[S]] : f32
func.func @scalar_result(%x: tensor<4xf32>, %i: index) -> (f32, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = tensor.extract %n[%i] : tensor<4xf32>
  return %s, %n : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_tensors(
// CHECK:         cf.br ^bb1
func.func @no_tensors() {
  cf.br ^a
^a:
  return
}

// CHECK: func.func private @elsewhere(memref<4xf32>)
func.func private @elsewhere(tensor<4xf32>)

// A scalar op of any dialect needs no model.
// CHECK-LABEL: func.func @scalar_op(
// CHECK:         [[U:%.+]] = math.erf
// CHECK:         linalg.fill ins([[U]] : f32) outs(%arg1 : memref<4xf32>)
func.func @scalar_op(%x: tensor<f32>) -> tensor<4xf32> {
  %s = tensor.extract %x[] : tensor<f32>
  %u = math.erf %s : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.fill ins(%u : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The init of a map that its body reads is copied.
// CHECK-LABEL:   func.func @map_reads_init(
// CHECK-COUNT-1:   linalg.generic
// CHECK-NOT:       linalg.generic
// CHECK:           linalg.map
func.func @map_reads_init(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.map ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) (%a: f32, %o: f32) {
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }
  return %r : tensor<4xf32>
}
