// RUN: %hotdesk-opt %s --split-input-file --hotdesk-guard-indices | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-guard-indices=positions=true | FileCheck %s --check-prefix=POSITIONS

#id = affine_map<(d0) -> (d0)>

// Rule 1: an index made from an element is checked, against the size of the dim it is for.
// CHECK-LABEL: func.func @element(
// CHECK:         [[DIM:%.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?xf32>
// CHECK:         linalg.generic
// CHECK:           [[I:%.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:           [[OK:%.*]] = arith.cmpi ult, [[I]], [[DIM]] : index
// CHECK-NEXT:      cf.assert [[OK]], "every index in range"
// CHECK-NEXT:      tensor.extract
func.func @element(%table: tensor<?xf32>, %index: tensor<3xi64>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%index : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %i = arith.index_cast %in : i64 to index
    %x = tensor.extract %table[%i] : tensor<?xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Rule 1: the position in the loop is in range; with `positions` it is checked, on memrefs too.
// POSITIONS-LABEL: func.func @position(
// POSITIONS:         [[I:%.*]] = arith.muli
// POSITIONS:         [[OK:%.*]] = arith.cmpi ult, [[I]], %c6
// POSITIONS:         cf.assert [[OK]], "every index in range"
// POSITIONS-NEXT:    tensor.extract
// CHECK-LABEL: func.func @position(
// CHECK-NOT:     cf.assert
func.func @position(%table: tensor<6xf32>) -> tensor<3xf32> {
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%out: f32):
    %p = linalg.index 0 : index
    %i = arith.muli %p, %two : index
    %x = tensor.extract %table[%i] : tensor<6xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Rule 2: a loop with checks of its own is left alone.
// CHECK-LABEL: func.func @checked(
// CHECK:           cf.assert %{{.*}}, "its own"
// CHECK-NOT:       cf.assert
func.func @checked(%table: tensor<6xf32>, %index: tensor<3xi64>) -> tensor<3xf32> {
  %six = arith.constant 6 : i64
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%index : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %ok = arith.cmpi ult, %in, %six : i64
    cf.assert %ok, "its own"
    %i = arith.index_cast %in : i64 to index
    %x = tensor.extract %table[%i] : tensor<6xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
