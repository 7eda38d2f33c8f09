// RUN: %hotdesk-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: %hotdesk-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG
// RUN: %hotdesk-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE
// RUN: %hotdesk-opt %s --mlir-elide-elementsattrs-if-larger=4 | FileCheck %s --check-prefix=WHOLE
// RUN: not %hotdesk-opt %s --mlir-timing=perhaps 2>&1 | FileCheck %s --check-prefix=SWITCH

// GENERIC: "func.func"() <{function_type = () -> tensor<4xf32>, sym_name = "main"}> ({
// GENERIC: "func.return"
// DEBUG:   loc("{{.*}}print-forms.mlir":14:1)
// ELIDE:   dense_resource<__elided__>
// WHOLE:   dense<[1.0{{.*}}, 2.0
// SWITCH:  error: argument --mlir-timing: expected true or false, got 'perhaps'

func.func @main() -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}
