// RUN: %rewrite-stablehlo %s | FileCheck %s

// Where a slice begins is compared with the last place in its own type, so what 8 bits hold is widened; 32 bits stay.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<300x4xf32>, %[[Y:.*]]: tensor<2x4xf32>, %[[I:.*]]: tensor<ui8>, %[[J:.*]]: tensor<i32>)
// CHECK: %[[A:.*]] = stablehlo.convert %[[I]] : (tensor<ui8>) -> tensor<i32>
// CHECK: %[[B:.*]] = stablehlo.convert %[[I]] : (tensor<ui8>) -> tensor<i32>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[Y]], %[[A]], %[[B]]
// CHECK-NOT: stablehlo.convert
// CHECK: stablehlo.dynamic_update_slice %[[R]], %[[Y]], %[[J]], %[[J]]
func.func @main(%x: tensor<300x4xf32>, %y: tensor<2x4xf32>, %i: tensor<ui8>, %j: tensor<i32>) -> tensor<300x4xf32> {
  %r = stablehlo.dynamic_update_slice %x, %y, %i, %i
      : (tensor<300x4xf32>, tensor<2x4xf32>, tensor<ui8>, tensor<ui8>) -> tensor<300x4xf32>
  %s = stablehlo.dynamic_update_slice %r, %y, %j, %j
      : (tensor<300x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<300x4xf32>
  return %s : tensor<300x4xf32>
}
