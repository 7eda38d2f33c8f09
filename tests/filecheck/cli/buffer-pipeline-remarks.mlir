// RUN: %hotdesk-opt %s --hotdesk-buffer-pipeline --remarks-filter=copy 2>&1 | FileCheck %s

// Each remark is that of the pass that decided, with the condition by its number and in the words of that pass's page.
// CHECK: remark: [Missed] COPIED | Category:copy | Function=kept | Reason=not-allocated-here
// CHECK-SAME: Condition="condition 1 \"the target is a whole allocation, {{.*}}\" or 1 \"the source is a whole allocation
// CHECK-SAME: of docs/passes/hotdesk-copy-removal.md"
func.func @kept(%x: memref<4xf32>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
