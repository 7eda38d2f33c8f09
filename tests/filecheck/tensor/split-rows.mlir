// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-rows="parts=2 least-bytes=300" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-rows="parts=2 least-bytes=300" --remarks-filter="split" 2>&1 | FileCheck %s --check-prefix=WHY

// The wide value is there in halves, and the result is put together.
// WHY: remark: [Passed] SPLIT | Category:split | Function=in_parts | Reason=part-by-part, Bytes=192
// CHECK-LABEL: func.func @in_parts(
// CHECK-SAME:    [[X:%.*]]: tensor<6x16xf32>)
// CHECK-NOT:     math.exp {{.*}} tensor<6x16xf32>
// CHECK:         [[R:%.*]] = tensor.empty() : tensor<6xf32>
// CHECK:         [[X0:%.*]] = tensor.extract_slice [[X]][0, 0] [3, 16] [1, 1] : tensor<6x16xf32> to tensor<3x16xf32>
// CHECK:         [[A0:%.*]] = linalg.map { math.exp } ins([[X0]] : tensor<3x16xf32>) outs({{.*}} : tensor<3x16xf32>)
// CHECK:         [[S0:%.*]] = linalg.reduce { arith.addf } ins([[A0]] : tensor<3x16xf32>) outs({{.*}} : tensor<3xf32>) dimensions = [1]
// CHECK:         [[R0:%.*]] = tensor.insert_slice [[S0]] into [[R]][0] [3] [1] : tensor<3xf32> into tensor<6xf32>
// CHECK:         [[X1:%.*]] = tensor.extract_slice [[X]][3, 0] [3, 16] [1, 1] : tensor<6x16xf32> to tensor<3x16xf32>
// CHECK:         [[A1:%.*]] = linalg.map { math.exp } ins([[X1]] : tensor<3x16xf32>)
// CHECK:         [[S1:%.*]] = linalg.reduce { arith.addf } ins([[A1]] : tensor<3x16xf32>)
// CHECK:         [[R1:%.*]] = tensor.insert_slice [[S1]] into [[R0]][3] [3] [1] : tensor<3xf32> into tensor<6xf32>
// CHECK:         return [[R1]]
func.func @in_parts(%x: tensor<6x16xf32>) -> tensor<6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x16xf32>
  %n = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%z : f32) outs(%n : tensor<6xf32>) -> tensor<6xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %s = linalg.reduce { arith.addf } ins(%a : tensor<6x16xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  return %s : tensor<6xf32>
}

// -----

// The sum runs over the outer dimension: halves of the inner one, of which the size is not known, would be needed.
// CHECK-LABEL: func.func @unknown_size(
// CHECK-NOT:     tensor.extract_slice
func.func @unknown_size(%x: tensor<100x?xf32> {hotdesk.shape = ["100", "n"]}, %f: tensor<?xf32> {hotdesk.shape = ["n"]})
    -> tensor<?xf32> {
  %c = arith.constant 1 : index
  %d = tensor.dim %x, %c : tensor<100x?xf32>
  %e = tensor.empty(%d) : tensor<100x?xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<100x?xf32>) outs(%e : tensor<100x?xf32>)
  %s = linalg.reduce { arith.addf } ins(%a : tensor<100x?xf32>) outs(%f : tensor<?xf32>) dimensions = [0]
  return %s : tensor<?xf32>
}

// -----

// What is returned is wanted as a whole.
// CHECK-LABEL: func.func @returned(
// CHECK-NOT:     tensor.extract_slice
func.func @returned(%x: tensor<10x10xf32>, %f: tensor<10xf32>) -> (tensor<10xf32>, tensor<10x10xf32>) {
  %e = tensor.empty() : tensor<10x10xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>)
  %s = linalg.reduce { arith.addf } ins(%a : tensor<10x10xf32>) outs(%f : tensor<10xf32>) dimensions = [1]
  return %s, %a : tensor<10xf32>, tensor<10x10xf32>
}

// -----

// Rows of an image: five of six are needed for each half of what the second convolution makes, of five rows for the first half of
// the input and five for the second; halves are padded on one side only.
// WHY: remark: [Passed] SPLIT | Category:split | Function=rows_of_images | Reason=part-by-part, Bytes=144
// CHECK-LABEL: func.func @rows_of_images(
// CHECK-SAME:    [[X:%.*]]: tensor<1x1x8x4xf32>
// CHECK-NOT:     -> tensor<1x3x8x4xf32>
// CHECK:         [[X0:%.*]] = tensor.extract_slice [[X]][0, 0, 0, 0] [1, 1, 6, 4] [1, 1, 1, 1]
// CHECK:         [[H0:%.*]] = "hotdesk.conv"([[X0]], {{.*}} pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 1>{{.*}} -> tensor<1x3x5x4xf32>
// CHECK:         [[R0:%.*]] = "hotdesk.conv"([[H0]], {{.*}} pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 1>{{.*}} -> tensor<1x1x4x4xf32>
// CHECK:         [[S:%.*]] = tensor.insert_slice [[R0]] into {{.*}}[0, 0, 0, 0] [1, 1, 4, 4]
// CHECK:         [[X1:%.*]] = tensor.extract_slice [[X]][0, 0, 2, 0] [1, 1, 6, 4] [1, 1, 1, 1]
// CHECK:         [[H1:%.*]] = "hotdesk.conv"([[X1]], {{.*}} pad_high = array<i64: 1, 1>, pad_low = array<i64: 0, 1>{{.*}} -> tensor<1x3x5x4xf32>
// CHECK:         [[R1:%.*]] = "hotdesk.conv"([[H1]], {{.*}} pad_high = array<i64: 1, 1>, pad_low = array<i64: 0, 1>{{.*}} -> tensor<1x1x4x4xf32>
// CHECK:         tensor.insert_slice [[R1]] into [[S]][0, 0, 4, 0] [1, 1, 4, 4]
func.func @rows_of_images(%x: tensor<1x1x8x4xf32>, %w: tensor<3x1x3x3xf32>, %v: tensor<1x3x3x3xf32>) -> tensor<1x1x8x4xf32> {
  %e = tensor.empty() : tensor<1x3x8x4xf32>
  %h = "hotdesk.conv"(%x, %w, %e) {accumulate = false, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      input_dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>}
      : (tensor<1x1x8x4xf32>, tensor<3x1x3x3xf32>, tensor<1x3x8x4xf32>) -> tensor<1x3x8x4xf32>
  %n = tensor.empty() : tensor<1x1x8x4xf32>
  %r = "hotdesk.conv"(%h, %v, %n) {accumulate = false, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      input_dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>}
      : (tensor<1x3x8x4xf32>, tensor<1x3x3x3xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
  return %r : tensor<1x1x8x4xf32>
}
