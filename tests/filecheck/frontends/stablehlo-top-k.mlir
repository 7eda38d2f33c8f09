// RUN: %rewrite-stablehlo %s | FileCheck %s

// A call of @ApproxTopK is a sort of the whole, of which the first elements are taken.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x9xf32>, %[[I:.*]]: tensor<2x9xi32>)
// CHECK: %[[KEYS:.*]] = stablehlo.not
// CHECK: %[[ORDER:.*]]:2 = tm_tensor.sort dimension(1) outs(%[[KEYS]], %{{.*}} : tensor<2x9xi32>, tensor<2x9xi64>) {
// CHECK: arith.cmpi sle
// CHECK: %[[VALUES:.*]] = linalg.generic {{.*}} ins(%[[ORDER]]#1 : tensor<2x9xi64>)
// CHECK: tensor.extract %[[X]]
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}} ins(%[[ORDER]]#1 : tensor<2x9xi64>)
// CHECK: tensor.extract %[[I]]
// CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[VALUES]] [0:2, 0:4] : (tensor<2x9xf32>) -> tensor<2x4xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.slice %[[PLACES]] [0:2, 0:4] : (tensor<2x9xi32>) -> tensor<2x4xi32>
// CHECK: return %[[A]], %[[B]]
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %p : tensor<i1>
}
func.func @main(%x: tensor<2x9xf32>, %i: tensor<2x9xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>) {
  %v = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %v, %n) {called_computations = [@greater], mhlo.backend_config = {
      aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, top_k = 4 : i64}}
      : (tensor<2x9xf32>, tensor<2x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return %r#0, %r#1 : tensor<2x4xf32>, tensor<2x4xi32>
}
