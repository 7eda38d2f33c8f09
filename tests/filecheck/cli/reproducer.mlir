// What failed is written with its pipeline, and fails again from that file; a run that succeeds leaves none.

// RUN: rm -f %t.repro %t.good
// RUN: not %hotdesk-opt %s --cse --hotdesk-one-shot-bufferize --mlir-pass-pipeline-crash-reproducer=%t.repro 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: FileCheck %s --input-file=%t.repro
// RUN: not %hotdesk-opt %t.repro --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: %hotdesk-opt %s --cse --mlir-pass-pipeline-crash-reproducer=%t.good
// RUN: not ls %t.good
// RUN: not %hotdesk-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      func.func @main
// CHECK:      {-#
// CHECK:        external_resources: {
// CHECK-NEXT:     mlir_reproducer: {
// CHECK-NEXT:       pipeline: "builtin.module(cse,hotdesk-one-shot-bufferize)",
// CHECK-NEXT:       disable_threading: true,
// CHECK-NEXT:       verify_each: true
// CHECK:      #-}
// ERR:        error: op `tosa.abs` has tensors but no model
// ERR:        note: reproducer generated at
// AGAIN:      .repro:3:10: error: op `tosa.abs` has tensors but no model
// NONE:       error: option 'run-reproducer': expected an input with a section
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
