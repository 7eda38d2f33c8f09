// IR between passes, ours and MLIR's, under the same headings.

// RUN: %hotdesk-opt %s --pass-pipeline='builtin.module(func.func(cse),hotdesk-one-shot-bufferize)' --mlir-print-ir-after-all 2>&1 >%t.out | FileCheck %s --check-prefix=AFTER
// RUN: %hotdesk-opt %s --cse --hotdesk-one-shot-bufferize --mlir-print-ir-before=hotdesk-one-shot-bufferize 2>&1 >%t.out | FileCheck %s --check-prefix=BEFORE
// RUN: %hotdesk-opt %s --cse --cse --mlir-print-ir-after-change 2>&1 >%t.out | FileCheck %s --check-prefix=CHANGE

// AFTER:      // -----// IR Dump After CSE{{.*}} (cse) //----- //
// AFTER-NEXT: func.func @main(%arg0: tensor<4xf32>)
// AFTER:      // -----// IR Dump After OneShotBufferize (hotdesk-one-shot-bufferize) //----- //
// AFTER:      func.func @main(%arg0: memref<4xf32>

// BEFORE-NOT: (cse)
// BEFORE:     // -----// IR Dump Before OneShotBufferize (hotdesk-one-shot-bufferize) //----- //
// BEFORE:     func.func @main(%arg0: tensor<4xf32>)
// BEFORE-NOT: memref

// CHANGE:     // -----// IR Dump After CSE{{.*}} (cse) //----- //
// CHANGE-NOT: IR Dump

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
