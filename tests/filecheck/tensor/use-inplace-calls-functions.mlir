// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls --print-decisions 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls --hotdesk-one-shot-bufferize | FileCheck %s --check-prefix=MEM

// A variant is made once; the call whose argument is the caller's keeps the function, and so does the one whose argument is read later.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>)
// CHECK:         [[A:%.*]] = call @f([[X]])
// CHECK-NEXT:    [[B:%.*]] = call @f_inplace_0([[A]])
// CHECK-NEXT:    [[C:%.*]] = call @f([[B]])
// CHECK-NEXT:    [[D:%.*]] = call @f_inplace_0([[C]])
// CHECK-NEXT:    linalg.add ins([[B]], [[D]] : {{.*}}) outs([[B]] :
// CHECK:       func.func @f(
// CHECK:         linalg.exp ins([[P:%.*]] : tensor<8xf32>) outs(%{{[0-9]+}} :
// CHECK:       func.func private @f_inplace_0([[P:%.*]]: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
// CHECK:         [[R:%.*]] = linalg.exp ins([[P]] : tensor<8xf32>) outs([[P]] :
// CHECK-NEXT:    return [[R]]
// CHECK-NOT:   _inplace_

// TOLD:        decision: result of func.call: allocated: not-writable-input, 32 bytes (func.call at {{.*}}:8)
// TOLD-NEXT:   decision: result of func.call: in place: dies-here, 32 bytes (func.call at {{.*}}:8)
// TOLD-NEXT:   decision: result of func.call: allocated: read-later, 32 bytes (func.call at {{.*}}:8, linalg.add at

// MEM-LABEL:   func.func @main(
// MEM-SAME:      [[X:%.*]]: memref<8xf32>, [[R:%.*]]: memref<8xf32> {
// MEM:           call @f([[X]], [[B:%.*]]) :
// MEM-NEXT:      call @f_inplace_0([[B]]) :
// MEM:           call @f([[B]], [[D:%.*]]) :
// MEM-NEXT:      call @f_inplace_0([[D]]) :
// MEM-NOT:       memref.copy
// MEM:           linalg.add ins([[B]], [[D]] : {{.*}}) outs([[B]] :
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = func.call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %d = func.call @f(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%b, %d : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// No variant of a function that cannot use the argument: a product is not computed where its operand lies.
// CHECK-LABEL: func.func @product(
// CHECK:         call @square(
// CHECK-NOT:     _inplace_
// TOLD:        decision: result of func.call: allocated: callee-keeps-argument, 64 bytes
func.func @product(%x: tensor<4x4xf32> {hotdesk.donated}) -> tensor<4x4xf32> {
  %r = func.call @square(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @square(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Nothing is known of a declaration, nor of a function that calls itself.
// CHECK-LABEL: func.func @unknown(
// CHECK:         call @declared(
// CHECK-NEXT:    call @itself(
// CHECK-NOT:     _inplace_
// TOLD:        decision: result of func.call: allocated: no-body, 32 bytes
// TOLD:        decision: result of func.call: allocated: recursive-call, 32 bytes
func.func @unknown(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = func.call @declared(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @itself(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func private @declared(tensor<8xf32>) -> tensor<8xf32>
func.func @itself(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = func.call @itself(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// Each set of arguments that may be overwritten has a variant of its own.
// CHECK-LABEL: func.func @sets(
// CHECK:         call @two_inplace_0(
// CHECK-NEXT:    call @two_inplace_1(
// CHECK-NEXT:    call @two_inplace_0_1(
// CHECK-DAG:   func.func private @two_inplace_0(%{{.*}}: tensor<8xf32> {hotdesk.donated}, %{{.*}}: tensor<8xf32>) ->
// CHECK-DAG:   func.func private @two_inplace_1(%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32> {hotdesk.donated}) ->
// CHECK-DAG:   func.func private @two_inplace_0_1(%{{.*}}: tensor<8xf32> {hotdesk.donated}, %{{.*}}: tensor<8xf32> {hotdesk.donated}) ->
func.func @sets(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b:2 = func.call @two(%a, %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %c:2 = func.call @two(%x, %b#0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %d:2 = func.call @two(%c#0, %c#1) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %s = linalg.add ins(%d#0, %d#1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%s, %b#1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @two(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// -----

// Memory that is passed twice is not given away.
// CHECK-LABEL: func.func @same_twice(
// CHECK:         call @sum(
// CHECK-NOT:     _inplace_
// TOLD:        decision: result of func.call: allocated: read-by-same-op, 32 bytes
func.func @same_twice(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %r = func.call @sum(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @sum(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A variant calls variants: of the four calls of @g in all, the first one in @outer has an argument of the caller's.
// CHECK-LABEL: func.func @nested(
// CHECK:         call @outer_inplace_0(
// CHECK-LABEL: func.func @outer(
// CHECK:         call @g(
// CHECK-NEXT:    call @g_inplace_0(
// CHECK-LABEL: func.func private @outer_inplace_0(
// CHECK:         call @g_inplace_0(
// CHECK-NEXT:    call @g_inplace_0(
func.func @nested(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %r = func.call @outer(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @outer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = func.call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The name of a variant is taken.
// CHECK-LABEL: func.func @taken(
// CHECK:         call @h_inplace_0_1(
func.func @taken(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %r = func.call @h(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @h(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @h_inplace_0(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// A function that is given its argument already needs no variant.
// CHECK-LABEL: func.func @given_already(
// CHECK:         call @over(
// CHECK-NOT:     _inplace_
// TOLD:        decision: result of func.call: in place: dies-here, 32 bytes
func.func @given_already(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %r = func.call @over(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @over(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A function of several blocks has variants as well.
// CHECK-LABEL: func.func @blocks(
// CHECK:         call @either_inplace_1(
// TOLD:        decision: result of func.call: in place: dies-here, 32 bytes
func.func @blocks(%p: i1, %x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %r = func.call @either(%p, %x) : (i1, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @either(%p: i1, %x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  cf.cond_br %p, ^one, ^two
^one:
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
^two:
  return %x : tensor<8xf32>
}

// -----

// A function that returns its argument as it came has the other result elsewhere.
// CHECK-LABEL: func.func @one_of_two(
// CHECK:         call @keeps_inplace_0(
// TOLD:        decision: result 0 of func.call: allocated: callee-keeps-argument, 32 bytes
// TOLD:        decision: result 1 of func.call: in place: dies-here, 32 bytes
func.func @one_of_two(%x: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = func.call @keeps(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
func.func @keeps(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%a, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r, %x : tensor<8xf32>, tensor<8xf32>
}
