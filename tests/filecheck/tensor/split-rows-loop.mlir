// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-rows="parts=6 least-bytes=300 unrolled=3" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-rows="parts=6 least-bytes=300 unrolled=4" | FileCheck %s --check-prefix=OUT
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-rows="parts=6 least-bytes=300 unrolled=0" | FileCheck %s --check-prefix=OUT

// The first and the last of six bands are padded, the four between them differ in where they lie alone: a loop, if no more than
// three are to be written out.
// CHECK-LABEL: func.func @rows_of_images(
// CHECK-SAME:    [[X:%.*]]: tensor<1x1x12x4xf32>
// CHECK-COUNT-2: "hotdesk.conv"({{.*}} pad_low = array<i64: 1, 1>
// CHECK:         [[FIRST:%.*]] = tensor.insert_slice {{.*}}[0, 0, 0, 0] [1, 1, 2, 4]
// CHECK-DAG:     [[ZERO:%.*]] = arith.constant 0 : index
// CHECK-DAG:     [[FOUR:%.*]] = arith.constant 4 : index
// CHECK-DAG:     [[ONE:%.*]] = arith.constant 1 : index
// CHECK:         [[MADE:%.*]] = scf.for [[I:%.*]] = [[ZERO]] to [[FOUR]] step [[ONE]] iter_args([[SO_FAR:%.*]] = [[FIRST]])
// CHECK:           [[FROM:%.*]] = arith.muli [[I]], {{.*}} : index
// CHECK:           [[BAND:%.*]] = tensor.extract_slice [[X]][0, 0, [[FROM]], 0] [1, 1, 6, 4] [1, 1, 1, 1]
// CHECK:           [[H:%.*]] = "hotdesk.conv"([[BAND]], {{.*}} pad_high = array<i64: 0, 1>, pad_low = array<i64: 0, 1>{{.*}} -> tensor<1x3x4x4xf32>
// CHECK:           [[R:%.*]] = "hotdesk.conv"([[H]], {{.*}} pad_high = array<i64: 0, 1>, pad_low = array<i64: 0, 1>{{.*}} -> tensor<1x1x2x4xf32>
// CHECK:           [[TO:%.*]] = arith.addi [[FROM]], {{.*}} : index
// CHECK:           [[IN:%.*]] = tensor.insert_slice [[R]] into [[SO_FAR]][0, 0, [[TO]], 0] [1, 1, 2, 4] [1, 1, 1, 1]
// CHECK:           scf.yield [[IN]]
// CHECK-COUNT-2: "hotdesk.conv"({{.*}} pad_high = array<i64: 1, 1>
// CHECK:         [[LAST:%.*]] = tensor.insert_slice {{.*}} into [[MADE]][0, 0, 10, 0] [1, 1, 2, 4]
// CHECK:         return [[LAST]]
// OUT-LABEL: func.func @rows_of_images(
// OUT-NOT:     scf.for
// OUT-COUNT-6: tensor.insert_slice
func.func @rows_of_images(%x: tensor<1x1x12x4xf32>, %w: tensor<3x1x3x3xf32>, %v: tensor<1x3x3x3xf32>) -> tensor<1x1x12x4xf32> {
  %e = tensor.empty() : tensor<1x3x12x4xf32>
  %h = "hotdesk.conv"(%x, %w, %e) {accumulate = false, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      input_dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>}
      : (tensor<1x1x12x4xf32>, tensor<3x1x3x3xf32>, tensor<1x3x12x4xf32>) -> tensor<1x3x12x4xf32>
  %n = tensor.empty() : tensor<1x1x12x4xf32>
  %r = "hotdesk.conv"(%h, %v, %n) {accumulate = false, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      input_dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>}
      : (tensor<1x3x12x4xf32>, tensor<1x3x3x3xf32>, tensor<1x1x12x4xf32>) -> tensor<1x1x12x4xf32>
  return %r : tensor<1x1x12x4xf32>
}
