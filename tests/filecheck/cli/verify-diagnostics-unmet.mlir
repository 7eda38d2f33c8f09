// What was expected and did not come, and what came unexpected, are errors.

// RUN: not %hotdesk-opt %s --verify-diagnostics 2>&1 | FileCheck %s
// RUN: not %hotdesk-opt %s --verify-diagnostics=only-expected 2>&1 | FileCheck %s --check-prefix=ONLY

// CHECK:      verify-diagnostics-unmet.mlir:16:10: error: unexpected error: use of undeclared SSA value name
// CHECK-NEXT: {{^}}  return %x : f32
// CHECK-NEXT: {{^}}         ^
// CHECK:      verify-diagnostics-unmet.mlir:15:6: error: expected warning "nothing of the kind" was not produced
// CHECK-NOT:  error:

// ONLY-NOT: unexpected
// ONLY:     error: expected warning "nothing of the kind" was not produced
func.func @f() -> f32 {
  // expected-warning@+1 {{nothing of the kind}}
  return %x : f32
}
