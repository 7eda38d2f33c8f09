// RUN: %hotdesk-opt %s --split-input-file --hotdesk-choose-destinations | FileCheck %s

// What dies in an iteration is written over: nothing more is copied.
// CHECK-LABEL: func.func @dies_in_an_iteration(
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %arg0)
// CHECK:           linalg.exp ins(%[[X]] : {{.*}}) outs(%[[X]] :
func.func @dies_in_an_iteration(%x: tensor<8xf32> {hotdesk.donated}, %k: tensor<index>) -> tensor<8xf32> {
  %n = tensor.extract %k[] : tensor<index>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %p = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// %q over %p, which dies there, would be copied in each iteration to where %a lies. The loop keeps its own destinations, and what
// comes behind it does not.
// CHECK-LABEL: func.func @the_loop_keeps_its_own(
// CHECK:         %[[E:.*]] = tensor.empty()
// CHECK:         %[[R:.*]] = scf.for
// CHECK:           linalg.add {{.*}} outs(%[[E]] :
// CHECK:           linalg.add {{.*}} outs(%[[E]] :
// CHECK:         linalg.exp ins(%[[R]] : {{.*}}) outs(%[[R]] :
func.func @the_loop_keeps_its_own(%y: tensor<8xf32>, %k: tensor<index>) -> tensor<8xf32> {
  %n = tensor.extract %k[] : tensor<index>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> tensor<8xf32> {
    %p = linalg.add ins(%y, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %q = linalg.add ins(%p, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  }
  %t = linalg.exp ins(%r : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}

// -----

// %t in %x's memory would have %x copied in front of the loop, which passes it on: no loop copies more, the function does.
// CHECK-LABEL: func.func @the_function_keeps_its_own(
// CHECK:         %[[E:.*]] = tensor.empty()
// CHECK:         linalg.add {{.*}} outs(%[[E]] :
func.func @the_function_keeps_its_own(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32>, %k: tensor<index>) -> tensor<8xf32> {
  %n = tensor.extract %k[] : tensor<index>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    scf.yield %a : tensor<8xf32>
  }
  %t = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
