// Every decision is a remark: passed, missed or analysis. The filter names categories.

// RUN: %hotdesk-opt %s --hotdesk-choose-destinations --hotdesk-one-shot-bufferize --hotdesk-buffer-deallocation --remarks-filter=bufferize 2>&1 >%t.out | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize --hotdesk-buffer-deallocation --remarks-filter-passed=deallocate --remarks-filter-missed=.* --remark-format=yaml --remarks-output-file=%t.yaml >%t.out
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: not %hotdesk-opt %s --remarks-filter="(" 2>&1 | FileCheck %s --check-prefix=REGEX

// CHECK:      remarks.mlir:36:8: remark: [Missed] ALLOCATED | Category:bufferize | Function=main | Reason=read-later, Bytes=16, Subject="result of linalg.exp", Because="linalg.exp at {{.*}}remarks.mlir:36:8"
// CHECK-NEXT: {{^}}  %1 = linalg.exp
// CHECK-NEXT: {{^}}       ^
// CHECK:      remarks.mlir:37:8: remark: [Passed] IN_PLACE
// CHECK:      remarks.mlir: remark: [Passed] LENT | Category:bufferize | Function=main | Reason=result-slot, Bytes=16, Subject="result 0"
// CHECK-NOT:  remark:

// YAML:      --- !Missed
// YAML-NEXT: Pass: "hotdesk-one-shot-bufferize"
// YAML-NEXT: Name: ALLOCATED
// YAML-NEXT: DebugLoc: { File: "{{.*}}remarks.mlir", Line: 35, Column: 8 }
// YAML-NEXT: Function: "main"
// YAML-NEXT: Args:
// YAML-NEXT:   - Category: "bufferize"
// YAML-NEXT:   - Reason: "not-writable-input"
// YAML-NEXT:   - Bytes: 16
// YAML-NOT:  LENT
// YAML:      --- !Passed
// YAML-NEXT: Pass: "hotdesk-buffer-deallocation"
// YAML-NEXT: Name: FREED

// REGEX: error: argument --remarks-filter: expected a regular expression, got '('

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %g = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%g : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
