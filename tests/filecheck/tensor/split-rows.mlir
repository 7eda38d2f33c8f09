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
