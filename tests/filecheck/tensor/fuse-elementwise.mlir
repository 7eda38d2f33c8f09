// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-elementwise --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>

// A chain becomes one op; a value read twice in the same way is computed once.
// CHECK:       decision: result of linalg.generic: fused: single-reader, 24 bytes (linalg.generic at
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    [[X:%.*]]: tensor<2x3xf32>, [[Y:%.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[R:%.*]] = linalg.generic {{.*}} ins([[Y]], [[X]] : tensor<2x3xf32>, tensor<2x3xf32>) outs([[E]] :
// CHECK-NEXT:    ^bb0([[B:%[^ ]*]]: f32, [[A:%[^ ]*]]: f32, {{%.*}}: f32):
// CHECK-NEXT:      [[T:%.*]] = math.exp [[A]]
// CHECK-NEXT:      [[U:%.*]] = arith.mulf [[T]], [[T]]
// CHECK-NEXT:      [[V:%.*]] = arith.addf [[U]], [[B]]
// CHECK-NEXT:      linalg.yield [[V]]
// CHECK:         return [[R]]
func.func @chain(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  %c = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

// Maps and indices follow the reader's loops; the reader may reduce.
// CHECK-DAG:   [[TURNED:#.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   [[ROW:#.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @turned(
// CHECK:         linalg.generic {indexing_maps = {{\[}}[[TURNED]], [[ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK:           linalg.index 1 : index
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @turned(%x: tensor<?x3xf32>, %y: tensor<3xf32>, %n: index) -> tensor<3xf32> {
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %t = arith.mulf %p, %f : f32
    linalg.yield %t : f32
  } -> tensor<?x3xf32>
  %r = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x3xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 6: what is free goes into every reader, and what the producer accumulates into becomes an input.
// CHECK:       decision: result of linalg.generic: fused: cheap-to-recompute
// CHECK:       decision: result of linalg.generic: fused: single-reader
// CHECK-LABEL: func.func @free(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf16>, [[Y:%.*]]: tensor<4xf32>)
// CHECK:         linalg.generic {{.*}} ins([[X]] : tensor<4xf16>)
// CHECK:           arith.extf
// CHECK-NEXT:      math.exp
// CHECK:         linalg.generic {{.*}} ins([[X]], [[Y]] : tensor<4xf16>, tensor<4xf32>)
// CHECK:           arith.extf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      math.sqrt
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @free(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf16>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f16, %o: f32):
    %t = arith.extf %p : f16 to f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.sqrt %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

#point = affine_map<() -> ()>
#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// No dimensions, no elements, a scalar operand.
// CHECK-LABEL: func.func @small(
// CHECK-SAME:    [[X:%.*]]: tensor<f32>, [[S:%.*]]: f32)
// CHECK:         linalg.generic {{.*}} ins([[X]], [[S]] : tensor<f32>, f32) outs({{%.*}} : tensor<0xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @small(%x: tensor<f32>, %s: f32) -> tensor<0xf32> {
  %e = tensor.empty() : tensor<f32>
  %a = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []} ins(%x, %s : tensor<f32>, f32) outs(%e : tensor<f32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %d = tensor.empty() : tensor<0xf32>
  %r = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel"]} ins(%a : tensor<f32>) outs(%d : tensor<0xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<0xf32>
  return %r : tensor<0xf32>
}
func.func @nothing() {
  return
}
