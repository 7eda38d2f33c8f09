// RUN: %hotdesk-opt %s --cse --hotdesk-choose-destinations --mlir-timing 2>&1 >%t.out | FileCheck %s
// RUN: %hotdesk-opt %s --cse --mlir-timing=false 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK:      ... Execution time report ...
// CHECK:      Total Execution Time: {{[0-9.]+}} seconds
// CHECK:      ----Wall Time---- ----Name----
// CHECK-NEXT: ({{ *[0-9.]+}}%) Parser
// CHECK-NEXT: ({{ *[0-9.]+}}%) cse
// CHECK-NEXT: ({{ *[0-9.]+}}%) hotdesk-choose-destinations
// CHECK-NEXT: ({{ *[0-9.]+}}%) Output
// CHECK-NEXT: ({{ *[0-9.]+}}%) Rest
// CHECK-NEXT: (100.0%) Total
// OFF-NOT: Execution time
func.func @main() {
  return
}
