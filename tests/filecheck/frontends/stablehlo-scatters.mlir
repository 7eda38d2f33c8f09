// RUN: %rewrite-stablehlo %s | FileCheck %s

// A function of the element is computed where the element lies; the update is not read.
// CHECK-LABEL: func.func @function_of_one_element(
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>, %[[I:.*]]: tensor<4x1xi32>, %[[U:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %[[X]]) -> (tensor<6xf32>) {
// CHECK: %[[PLACE:.*]] = tensor.extract %[[I]][%[[N]], %{{.*}}] : tensor<4x1xi32>
// CHECK: %[[AT:.*]] = arith.index_cast %[[PLACE]] : i32 to index
// CHECK: %[[LAST:.*]] = arith.constant 5 : index
// CHECK: arith.cmpi sge, %[[AT]], %{{.*}} : index
// CHECK: arith.cmpi sle, %[[AT]], %[[LAST]] : index
// CHECK: scf.if %{{.*}} -> (tensor<6xf32>) {
// CHECK: %[[OLD:.*]] = tensor.extract %[[ACC]][%[[AT]]] : tensor<6xf32>
// CHECK: %[[ONE:.*]] = tensor.from_elements %[[OLD]] : tensor<f32>
// CHECK: %[[SINE:.*]] = stablehlo.sine %[[ONE]] : tensor<f32>
// CHECK: %[[NEW:.*]] = tensor.extract %[[SINE]][] : tensor<f32>
// CHECK: %[[MADE:.*]] = tensor.insert %[[NEW]] into %[[ACC]][%[[AT]]] : tensor<6xf32>
// CHECK: scf.yield %[[MADE]] : tensor<6xf32>
// CHECK: } else {
// CHECK: scf.yield %[[ACC]] : tensor<6xf32>
// CHECK: return %[[R]] : tensor<6xf32>
func.func @function_of_one_element(%x: tensor<6xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<6xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.sine %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// A function of both, of integers without a sign: the loops carry their bits, the function has the type that it had. Places
// without a sign stay so.
// CHECK-LABEL: func.func @function_of_both(
// CHECK-SAME: %[[X:.*]]: tensor<6x5xui8>, %[[I:.*]]: tensor<4x1xui8>, %[[U:.*]]: tensor<4x5xui8>)
// CHECK-DAG: %[[BITS:.*]] = stablehlo.bitcast_convert %[[X]] : (tensor<6x5xui8>) -> tensor<6x5xi8>
// CHECK-DAG: %[[UPDATES:.*]] = stablehlo.bitcast_convert %[[U]] : (tensor<4x5xui8>) -> tensor<4x5xi8>
// CHECK: %[[R:.*]] = scf.for %[[N:.*]] = %{{.*}} iter_args(%{{.*}} = %[[BITS]]) -> (tensor<6x5xi8>) {
// CHECK: arith.index_castui %{{.*}} : i8 to index
// CHECK: scf.for %[[M:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<6x5xi8>) {
// CHECK: %[[NEW:.*]] = tensor.extract %[[UPDATES]][%[[N]], %[[M]]] : tensor<4x5xi8>
// CHECK: %[[OLD:.*]] = tensor.extract %[[ACC]][%[[AT:.*]], %[[M]]] : tensor<6x5xi8>
// CHECK: %[[OLDS:.*]] = tensor.from_elements %[[OLD]] : tensor<i8>
// CHECK: %[[NEWS:.*]] = tensor.from_elements %[[NEW]] : tensor<i8>
// CHECK: %[[A:.*]] = stablehlo.bitcast_convert %[[OLDS]] : (tensor<i8>) -> tensor<ui8>
// CHECK: %[[B:.*]] = stablehlo.bitcast_convert %[[NEWS]] : (tensor<i8>) -> tensor<ui8>
// CHECK: %[[S:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<ui8>
// CHECK: %[[T:.*]] = stablehlo.divide %[[S]], %[[A]] : tensor<ui8>
// CHECK: %[[V:.*]] = stablehlo.bitcast_convert %[[T]] : (tensor<ui8>) -> tensor<i8>
// CHECK: %[[VALUE:.*]] = tensor.extract %[[V]][] : tensor<i8>
// CHECK: tensor.insert %[[VALUE]] into %[[ACC]][%[[AT]], %[[M]]] : tensor<6x5xi8>
// CHECK: stablehlo.bitcast_convert %[[R]] : (tensor<6x5xi8>) -> tensor<6x5xui8>
func.func @function_of_both(%x: tensor<6x5xui8>, %i: tensor<4x1xui8>, %u: tensor<4x5xui8>) -> tensor<6x5xui8> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %s = stablehlo.add %a, %b : tensor<ui8>
    %t = stablehlo.divide %s, %a : tensor<ui8>
    stablehlo.return %t : tensor<ui8>
  }) : (tensor<6x5xui8>, tensor<4x1xui8>, tensor<4x5xui8>) -> tensor<6x5xui8>
  return %r : tensor<6x5xui8>
}

// -----

// An op that `arith` has stays an op of `arith`, whichever of the two comes first.
// CHECK-LABEL: func.func @sums(
// CHECK: %[[NEW:.*]] = tensor.extract %{{.*}} : tensor<4xf32>
// CHECK: %[[OLD:.*]] = tensor.extract %{{.*}} : tensor<6xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]] : f32
// CHECK: tensor.insert %[[SUM]] into
// CHECK-NOT: stablehlo
func.func @sums(%x: tensor<6xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<6xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// What is made outside of the region is read there.
// CHECK-LABEL: func.func @a_constant(
// CHECK: %[[C:.*]] = stablehlo.constant dense<7.000000e+00> : tensor<f32>
// CHECK: scf.if
// CHECK: %[[SEVEN:.*]] = tensor.extract %[[C]][] : tensor<f32>
// CHECK: tensor.insert %[[SEVEN]] into
func.func @a_constant(%x: tensor<6xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<6xf32> {
  %c = stablehlo.constant dense<7.0> : tensor<f32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %c : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// A scatter of several operands stays.
// CHECK-LABEL: func.func @two_operands(
// CHECK: "stablehlo.scatter"
func.func @two_operands(%x: tensor<6xf32>, %y: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %c, %d : tensor<f32>, tensor<f32>
  }) : (tensor<6xf32>, tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xf32>
}
