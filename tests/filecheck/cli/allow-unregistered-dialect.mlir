// RUN: not %hotdesk-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: %hotdesk-opt %s --allow-unregistered-dialect | FileCheck %s

// CHECK: "foo.bar"()
// REFUSED: allow-unregistered-dialect.mlir:7:12: error: {{.*}}unregistered
func.func @main() {
  "foo.bar"() : () -> ()
  return
}
