// Sizes of results are named after the arguments that they follow from; names that the caller wrote stay.
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32> {bufferize.result = 0 : i64, hotdesk.shape = ["dim 0 of %arg0"]})
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// CHECK-LABEL: func.func @sums(
// CHECK-SAME:    {bufferize.result = 0 : i64, hotdesk.shape = ["2*(dim 1 of %arg0) + k"]}
// CHECK-SAME:    {bufferize.result = 1 : i64, hotdesk.shape = ["%arg1", "3"]}
func.func @sums(%x: tensor<2x?xf32>, %n: index, %y: tensor<?xf32> {hotdesk.shape = ["k"]}) -> (tensor<?xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c1 : tensor<2x?xf32>
  %k = tensor.dim %y, %c0 : tensor<?xf32>
  %twice = arith.muli %d, %c2 : index
  %sum = arith.addi %twice, %k : index
  %e = tensor.empty(%sum) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.empty(%n) : tensor<?x3xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %f, %h : tensor<?xf32>, tensor<?x3xf32>
}
