// Flags run in their order, carry options, and nest passes that are restricted to another op.

// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize --canonicalize="max-iterations=3 top-down=false" -cse --llvm-request-c-wrappers --dump-pass-pipeline 2>&1 | FileCheck %s

// CHECK:      builtin.module(hotdesk-one-shot-bufferize,canonicalize{{[{].*max-iterations=3.*top-down=false.*}}},cse,func.func(llvm-request-c-wrappers))
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>
// CHECK-SAME:   llvm.emit_c_interface
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
