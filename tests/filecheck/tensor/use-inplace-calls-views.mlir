// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls --print-decisions 2>&1 | FileCheck %s --check-prefix=TOLD

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

// -----

// A view of %a is read after the op.
// CHECK-LABEL: func.func @view_of_op(
// CHECK:         [[A:%.*]] = linalg.exp
// CHECK:         linalg.log ins([[A]] : {{.*}}) outs(%{{[0-9]+}} :
// TOLD:        decision: result of linalg.log: allocated: read-later, 32 bytes
func.func @view_of_op(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.extract_slice %a[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = linalg.log ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %v into %b[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The last use may be through a view of the whole.
// CHECK-LABEL: func.func @through_views(
// CHECK:         call @g_inplace_0(
// TOLD:        decision: result of func.call: in place: dies-here, 32 bytes
func.func @through_views(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %v = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %w = tensor.collapse_shape %v [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %r = func.call @g(%w) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A part of a buffer is not given away.
// CHECK-LABEL: func.func @part(
// CHECK:         call @g(
// CHECK-NOT:     _inplace_
// TOLD:        decision: result of func.call: allocated: partial-view, 32 bytes
func.func @part(%x: tensor<16xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %v = tensor.extract_slice %x[2] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %r = func.call @g(%v) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A branch, a loop and a payload behind the call read what it was passed.
// CHECK-LABEL: func.func @captured_by_regions(
// CHECK-COUNT-3: call @g(
// CHECK-NOT:     _inplace_
// TOLD-COUNT-3: decision: result of func.call: allocated: read-later, 32 bytes
func.func @captured_by_regions(%p: i1, %x: tensor<8xf32>, %y: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %f = func.call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %s = scf.if %p -> (tensor<8xf32>) {
    %i = linalg.abs ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %i : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %b = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %h = func.call @g(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %t = scf.for %i = %c0 to %c2 step %c1 iter_args(%q = %x) -> (tensor<8xf32>) {
    %j = linalg.add ins(%q, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %j : tensor<8xf32>
  }
  %c = linalg.abs ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %k = func.call @g(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %l = tensor.extract %c[%i] : tensor<8xf32>
    linalg.yield %l : f32
  } -> tensor<8xf32>
  return %f, %s, %h, %t, %k, %u : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A call in a loop does not overwrite what the next iteration reads.
// CHECK-LABEL: func.func @read_again(
// CHECK:         scf.for
// CHECK-NEXT:      [[B:%.*]] = {{.*}}call @g(
// CHECK-NEXT:      call @g_inplace_0([[B]])
// TOLD:        decision: result of func.call: allocated: read-later, 32 bytes
// TOLD:        decision: result of func.call: in place: dies-here, 32 bytes
func.func @read_again(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x) -> (tensor<8xf32>) {
    %b = func.call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %d = func.call @g(%b) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
