// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls | FileCheck %s

// A view of %a is read after the call, so %a is not given away.
// CHECK-LABEL: func.func @view(
// CHECK:         call @f(
// CHECK-NOT:     call @f_inplace_0(
func.func @view(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
  %v = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b, %v : tensor<8xf32>, tensor<4xf32>
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Two results, each over an argument of its own; of one argument that could serve both, one result gets it.
// CHECK-LABEL: func.func @several(
// CHECK:         [[AB:%.*]]:3 = call @two_inplace_0_1(
// CHECK-NEXT:    call @two_inplace_0([[AB]]#0, %{{.*}})
// CHECK:       func.func private @two_inplace_0(%{{.*}}: tensor<8xf32> {hotdesk.donated}, %{{.*}}: tensor<8xf32>)
// CHECK:         linalg.add ins([[X:%.*]], [[Y:%.*]] : {{.*}}) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.sub ins([[X]], [[Y]] : {{.*}}) outs([[X]] :
// CHECK:       func.func private @two_inplace_0_1(%{{.*}}: tensor<8xf32> {hotdesk.donated}, %{{.*}}: tensor<8xf32> {hotdesk.donated})
// CHECK:         linalg.add ins([[X:%.*]], [[Y:%.*]] : {{.*}}) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.sub ins([[X]], [[Y]] : {{.*}}) outs([[X]] :
// CHECK-NEXT:    linalg.exp ins([[Y]] : {{.*}}) outs([[Y]] :
func.func @several(%x: tensor<8xf32>, %p: tensor<8xf32> {hotdesk.donated}, %q: tensor<8xf32> {hotdesk.donated})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a:3 = func.call @two(%p, %q) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %b:3 = func.call @two(%a#0, %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %b#0, %b#1, %a#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @two(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.sub ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r, %s, %t : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What a region captures and runs again is read again.
// CHECK-LABEL: func.func @captured(
// CHECK:         [[A:%.*]] = linalg.map { math.exp }
// CHECK:         scf.for
// CHECK-NEXT:      linalg.add ins({{.*}}, [[A]] : {{.*}}) outs(%{{[0-9]+}} :
func.func @captured(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (tensor<8xf32>) {
    %s = linalg.add ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
