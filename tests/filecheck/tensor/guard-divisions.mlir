// RUN: %hotdesk-opt %s --split-input-file --hotdesk-guard-divisions | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A divisor of zero fails, and so that nothing faults the division is by one then; also for the smallest number by minus one.
// CHECK-LABEL: func.func @signed(
// CHECK:         ^bb0([[A:%.*]]: i32, [[B:%.*]]: i32, %{{.*}}: i32):
// CHECK:           [[OK:%.*]] = arith.cmpi ne, [[B]], %{{.*}} : i32
// CHECK-NEXT:      cf.assert [[OK]], "no division of an integer by zero"
// CHECK-NEXT:      [[LEAST:%.*]] = arith.constant -2147483648 : i32
// CHECK-NEXT:      arith.cmpi ne, [[A]], [[LEAST]] : i32
// CHECK:           [[ONE:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:      [[D:%.*]] = arith.select %{{.*}}, [[B]], [[ONE]] : i32
// CHECK-NEXT:      arith.divsi [[A]], [[D]] : i32
func.func @signed(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %e = tensor.empty() : tensor<3xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<3xi32>, tensor<3xi32>) outs(%e : tensor<3xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @unsigned(
// CHECK:         ^bb0([[A:%.*]]: i8, [[B:%.*]]: i8, %{{.*}}: i8):
// CHECK:           [[OK:%.*]] = arith.cmpi ne, [[B]], %{{.*}} : i8
// CHECK-NEXT:      cf.assert [[OK]], "no division of an integer by zero"
// CHECK-NEXT:      [[ONE:%.*]] = arith.constant 1 : i8
// CHECK-NEXT:      [[D:%.*]] = arith.select [[OK]], [[B]], [[ONE]] : i8
// CHECK-NEXT:      arith.remui [[A]], [[D]] : i8
func.func @unsigned(%x: tensor<3xi8>, %y: tensor<3xi8>) -> tensor<3xi8> {
  %e = tensor.empty() : tensor<3xi8>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<3xi8>, tensor<3xi8>) outs(%e : tensor<3xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %q = arith.remui %a, %b : i8
    linalg.yield %q : i8
  } -> tensor<3xi8>
  return %r : tensor<3xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Condition 2: a divisor that is known to be harmless.
// CHECK-LABEL: func.func @constant(
// CHECK-NOT:     cf.assert
func.func @constant(%x: tensor<3xi64>) -> tensor<3xi64> {
  %three = arith.constant 3 : i64
  %e = tensor.empty() : tensor<3xi64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%a: i64, %out: i64):
    %q = arith.floordivsi %a, %three : i64
    linalg.yield %q : i64
  } -> tensor<3xi64>
  return %r : tensor<3xi64>
}
