// RUN: not %hotdesk-opt %s --cse --hotdesk-one-shot-bufferize --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not %hotdesk-opt %s --cse --one-shot-bufferize --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=MLIR

// CHECK-NOT: (cse)
// CHECK:     // -----// IR Dump After OneShotBufferize Failed (hotdesk-one-shot-bufferize) //----- //
// CHECK:     tosa.abs
// CHECK:     print-ir-after-failure.mlir:13:8: error: op `tosa.abs` has tensors but no model

// MLIR-NOT: (cse)
// MLIR:     // -----// IR Dump After OneShotBufferize{{.*}} Failed (one-shot-bufferize) //----- //
// MLIR:     error: op was not bufferized
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
