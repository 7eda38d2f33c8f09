// Every decision is a remark: passed, missed or analysis. The filter names categories.

// RUN: %hotdesk-opt %s --hotdesk-choose-destinations --hotdesk-one-shot-bufferize --hotdesk-buffer-deallocation --remarks-filter=bufferize 2>&1 >%t.out | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize --hotdesk-buffer-deallocation --remarks-filter-passed=deallocate --remarks-filter-missed=.* --remark-format=yaml --remarks-output-file=%t.yaml >%t.out
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: not %hotdesk-opt %s --remarks-filter="(" 2>&1 | FileCheck %s --check-prefix=REGEX

// CHECK:      remarks.mlir:43:8: remark: [Missed] ALLOCATED | Category:bufferize | Function=main | Reason=read-later, Bytes=16, Subject="result of linalg.exp", Because="linalg.exp at {{.*}}remarks.mlir:43:8", Because="linalg.add at {{.*}}remarks.mlir:44:8", Read="linalg.add at {{.*}}remarks.mlir:44:8", Write="linalg.exp at {{.*}}remarks.mlir:43:8", Definition="linalg.exp at {{.*}}remarks.mlir:42:8", Path="linalg.exp at {{.*}}remarks.mlir:42:8", Remark=
// CHECK-NEXT: {{^}}  %1 = linalg.exp
// CHECK-NEXT: {{^}}       ^
// CHECK:      remarks.mlir:44:8: remark: [Passed] IN_PLACE
// CHECK:      remarks.mlir:44:8: remark: [Passed] LENT | Category:bufferize | Function=main | Reason=result-slot, Bytes=16, Subject="result 0", Because="linalg.add at {{.*}}remarks.mlir:44:8", Because="func.return at {{.*}}remarks.mlir:45:3"
// CHECK-NOT:  remark:

// YAML:      --- !Missed
// YAML-NEXT: Pass: "hotdesk-one-shot-bufferize"
// YAML-NEXT: Name: ALLOCATED
// YAML-NEXT: DebugLoc: { File: "{{.*}}remarks.mlir", Line: 42, Column: 8 }
// YAML-NEXT: Function: "main"
// YAML-NEXT: Args:
// YAML-NEXT:   - Category: "bufferize"
// YAML-NEXT:   - Reason: "not-writable-input"
// YAML-NEXT:   - Bytes: 16
// YAML-NEXT:   - Subject: "result of linalg.exp"
// YAML-NEXT:   - Because: "linalg.exp at {{.*}}remarks.mlir:42:8"
// YAML-NEXT:   - Write: "linalg.exp at {{.*}}remarks.mlir:42:8"
// YAML-NEXT:   - Definition: "argument 0 at {{.*}}remarks.mlir:38:17"
// YAML-NEXT:   - Path: "argument 0 at {{.*}}remarks.mlir:38:17"
// YAML-NEXT:   - Remark: "The operand is an argument of the program, which belongs to the caller."
// YAML-NEXT:   - Hint: "Donate argument 0 with `hotdesk.donated`. Then `hotdesk-choose-destinations` lets the op write there."
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
