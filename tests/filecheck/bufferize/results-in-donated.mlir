// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=results-in-donated | FileCheck %s

// What is computed in a donated argument and returned stays there.
// CHECK-LABEL: func.func @held(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32> {hotdesk.donated, hotdesk.holds = {{.*}}0{{.*}}}, [[Y:%[^ ]*]]: memref<8xf32>) {
// CHECK-NEXT:    linalg.map { arith.addf } ins([[X]], [[Y]] : {{.*}}) outs([[X]] :
// CHECK-NEXT:    return{{$}}
func.func @held(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map { arith.addf } ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// Whoever gives an argument away gets each result in memory of its own; a part of an argument is not all of it.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32> {hotdesk.donated, hotdesk.holds = {{.*}}0{{.*}}}, [[B:%[^ ]*]]: memref<8xf32> {bufferize.result = 1{{.*}}, [[C:%[^ ]*]]: memref<4xf32> {bufferize.result = 2
// CHECK-DAG:     linalg.generic {{.*}} ins([[X]] : {{.*}}) outs([[B]] :
// CHECK-DAG:     linalg.generic {{.*}} outs([[C]] :
// CHECK:         return{{$}}
func.func @twice(%x: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %s = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %x, %x, %s : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}

// -----

// What is not donated is copied out, as without the option.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32>, [[OUT:%[^ ]*]]: memref<8xf32> {bufferize.result = 0
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : {{.*}}) outs([[OUT]] :
func.func @kept(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
