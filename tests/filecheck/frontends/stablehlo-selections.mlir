// RUN: %rewrite-stablehlo %s | FileCheck %s

// Each element of a window is compared with the one selected so far, which stays where GE holds: the first one's place is carried.
// CHECK-LABEL: func.func @inside(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[S:.*]]: tensor<2x3xf32>, %[[C:.*]]: tensor<f32>)
// CHECK: %[[BEGUN:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %[[BEGUN]]) -> (tensor<4x6xf32>) {
// CHECK: scf.for %[[J:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<4x6xf32>) {
// CHECK: %[[ROW:.*]] = arith.subi
// CHECK: %[[COLUMN:.*]] = arith.subi
// CHECK: %[[FIRST:.*]] = tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[FOUND:.*]]:2 = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[BEST:.*]] = %[[FIRST]], %[[AT:.*]] = %[[ROW]]) -> (f32, index) {
// CHECK: %[[PLACE:.*]] = arith.addi %[[ROW]], %[[K]] : index
// CHECK: %[[NEW:.*]] = tensor.extract %[[X]][%[[PLACE]], %[[COLUMN]]]
// CHECK: %[[STAYS:.*]] = arith.cmpf oge, %[[BEST]], %[[NEW]] : f32
// CHECK: arith.select %[[STAYS]], %[[BEST]], %[[NEW]] : f32
// CHECK: arith.select %[[STAYS]], %[[AT]], %[[PLACE]] : index
// CHECK: %[[ONE:.*]] = tensor.extract %[[S]][%[[I]], %[[J]]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[ACC]][%[[FOUND]]#1, %[[COLUMN]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[ONE]] : f32
// CHECK: tensor.insert %[[SUM]] into %[[ACC]][%[[FOUND]]#1, %[[COLUMN]]]
func.func @inside(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) -> tensor<4x6xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %s, %c) <{padding = dense<0> : tensor<2x2xi64>,
      window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// Padding of the op is never selected: what is carried stays there, and goes where nothing was inside before. `b < a` is `a > b`.
// CHECK-LABEL: func.func @padding(
// CHECK: %[[FOUND:.*]]:3 = scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}}, %[[ANY:.*]] = %{{.*}}) -> (i8, index, i1) {
// CHECK: %[[NEW:.*]] = tensor.extract
// CHECK: %[[HOLDS:.*]] = arith.cmpi ugt, %[[BEST]], %[[NEW]] : i8
// CHECK: %[[STAYS:.*]] = arith.andi %[[HOLDS]], %[[ANY]] : i1
// CHECK: %[[OUT:.*]] = arith.xori %[[IN:.*]], %{{.*}} : i1
// CHECK: %[[KEEPS:.*]] = arith.ori %[[STAYS]], %[[OUT]] : i1
// CHECK: arith.select %[[KEEPS]], %[[BEST]], %[[NEW]] : i8
// CHECK: arith.select %[[KEEPS]], %[[ANY]], %[[IN]] : i1
// CHECK: scf.if %[[FOUND]]#2 -> (tensor<4xi8>) {
// CHECK: arith.maxui
func.func @padding(%x: tensor<4xui8>, %s: tensor<5xui8>, %c: tensor<ui8>) -> tensor<4xui8> {
  %r = "stablehlo.select_and_scatter"(%x, %s, %c) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>,
      window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %p = stablehlo.compare LT, %b, %a : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %t = stablehlo.maximum %a, %b : tensor<ui8>
    stablehlo.return %t : tensor<ui8>
  }) : (tensor<4xui8>, tensor<5xui8>, tensor<ui8>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}

// -----

// An operand that is padded is read where it is not padded. What lies around it is selected as if it were there, and scattered nowhere.
// CHECK-LABEL: func.func @padded_operand(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<2xf32>, %[[V:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>)
// CHECK: %[[BEGUN:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK: %[[AROUND:.*]] = tensor.extract %[[V]][] : tensor<f32>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[BEGUN]]) -> (tensor<4xf32>) {
// CHECK: %[[FOUND:.*]]:3 = scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, index, i1) {
// CHECK: %[[THERE:.*]] = tensor.extract %[[X]][%{{.*}}] : tensor<4xf32>
// CHECK: %[[NEW:.*]] = arith.select %{{.*}}, %[[THERE]], %[[AROUND]] : f32
// CHECK: arith.cmpf oge, %[[BEST]], %[[NEW]] : f32
// CHECK: scf.if %[[FOUND]]#2 -> (tensor<4xf32>) {
// CHECK: tensor.insert %{{.*}} into %[[ACC]][%[[FOUND]]#1] : tensor<4xf32>
// CHECK: } else {
// CHECK: scf.yield %[[ACC]] : tensor<4xf32>
// CHECK: return %[[R]] : tensor<4xf32>
func.func @padded_operand(%x: tensor<4xf32>, %s: tensor<2xf32>, %v: tensor<f32>, %c: tensor<f32>) -> tensor<4xf32> {
  %q = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %r = "stablehlo.select_and_scatter"(%q, %s, %c) <{padding = dense<0> : tensor<1x2xi64>,
      window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<5xf32>, tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  %z = stablehlo.slice %r [1:5] : (tensor<5xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// Somebody reads what is selected in the padding: the operand is padded.
// CHECK-LABEL: func.func @padding_that_is_read(
// CHECK: %[[PADDED:.*]] = stablehlo.pad
// CHECK: tensor.extract %[[PADDED]][%{{.*}}] : tensor<5xf32>
// CHECK: stablehlo.slice %{{.*}} [0:3]
func.func @padding_that_is_read(%x: tensor<4xf32>, %s: tensor<2xf32>, %v: tensor<f32>, %c: tensor<f32>) -> tensor<3xf32> {
  %q = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %r = "stablehlo.select_and_scatter"(%q, %s, %c) <{padding = dense<0> : tensor<1x2xi64>,
      window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<5xf32>, tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  %z = stablehlo.slice %r [0:3] : (tensor<5xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}
