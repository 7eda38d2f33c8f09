// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="results=returned results-in-donated" | FileCheck %s

// What @g returns is in memory of @g's making. The loop yields that, so its result is %x only if the loop never runs: it is copied
// to where it is said to lie.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32> {hotdesk.donated, hotdesk.holds = {{.*}}0{{.*}}}, %{{.*}}: index) {
// CHECK:         [[R:%.*]]:2 = scf.while
// CHECK:           func.call @g({{.*}}) : (memref<4xf32>) -> memref<4xf32>
// CHECK:         linalg.generic {{.*}} ins([[R]]#1 : memref<4xf32>) outs([[X]] : memref<4xf32>)
// CHECK:         return{{$}}
func.func @main(%x: tensor<4xf32> {hotdesk.donated}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %y = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %y : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}
