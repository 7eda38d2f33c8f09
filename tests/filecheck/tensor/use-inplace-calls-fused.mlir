// RUN: %hotdesk-opt %s --linalg-generalize-named-ops --hotdesk-fuse-elementwise --hotdesk-use-inplace-calls | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-use-inplace-calls="cse=false" | FileCheck %s --check-prefix=TWICE
// RUN: %hotdesk-opt %s --hotdesk-use-inplace-calls | FileCheck %s --check-prefix=ONCE

// What is fused overwrites what it reads last, and reads only that element of it; of two equal ops one is left before.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>)
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK:         [[A:%.*]] = call @f([[X]])
// CHECK-NEXT:    [[R:%.*]] = linalg.generic {{.*}} ins([[X]], [[A]] : {{.*}}) outs([[A]] :
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         call @f_inplace_0([[R]])
// CHECK-LABEL: func.func private @f_inplace_0(
// CHECK-SAME:    [[P:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         linalg.generic {{.*}} ins([[P]]{{.*}} outs([[P]] :
// CHECK-NOT:     linalg.generic
// TWICE-LABEL: func.func @f(
// TWICE-COUNT-2: linalg.exp
// ONCE-LABEL:  func.func @f(
// ONCE:          linalg.exp
// ONCE-NOT:      linalg.exp
// ONCE-LABEL:  func.func private @f_inplace_0(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.add ins(%b, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %d = func.call @f(%c) : (tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
