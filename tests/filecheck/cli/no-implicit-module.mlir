// RUN: %hotdesk-opt %s --no-implicit-module --pass-pipeline='func.func(cse)' | FileCheck %s
// RUN: %hotdesk-opt %s --no-implicit-module --cse --llvm-request-c-wrappers | FileCheck %s --check-prefix=FLAGS
// RUN: not %hotdesk-opt %s --no-implicit-module --hotdesk-split-prepare 2>&1 | FileCheck %s --check-prefix=OURS
// RUN: not %hotdesk-opt %s --pass-pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=MODULE

// CHECK-NOT: module
// CHECK:     func.func @main
// FLAGS:     func.func @main() attributes {llvm.emit_c_interface}
// OURS:      error: pass 'hotdesk-split-prepare': expected a step of builtin.module
// MODULE:    error: pipeline for 'func.func': expected one for 'builtin.module'
func.func @main() {
  return
}
