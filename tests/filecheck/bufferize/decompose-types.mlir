// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-types | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-types --hotdesk-scf-bufferize --hotdesk-func-bufferize --hotdesk-finalizing-bufferize | FileCheck %s --check-prefix=KEPT
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-types --hotdesk-scf-bufferize --hotdesk-func-bufferize --hotdesk-finalizing-bufferize --hotdesk-buffer-results-to-out-params="modify-public-functions=true" | FileCheck %s --check-prefix=APPENDED

!pair = tuple<tensor<5xf32>, i1>

// Nothing has to be packed where the parts are known.
// CHECK-LABEL: func.func @callee(
// CHECK-SAME:    [[X:%.*]]: tensor<5xf32>, [[B:%.*]]: i1) -> (tensor<5xf32>, i1) {
// CHECK-NEXT:    return [[X]], [[B]] : tensor<5xf32>, i1
// KEPT-LABEL:  func.func @callee(
// KEPT-SAME:     [[X:%.*]]: memref<5xf32>, [[B:%.*]]: i1) -> (memref<5xf32>, i1) {
// KEPT-NEXT:     return [[X]], [[B]] : memref<5xf32>, i1
// APPENDED-LABEL: func.func @callee(
// APPENDED-SAME: [[X:%.*]]: memref<5xf32>, [[B:%.*]]: i1, [[O:%.*]]: memref<5xf32>) -> i1 {
// APPENDED-NEXT: linalg.generic {{.*}} ins([[X]] : memref<5xf32>) outs([[O]] : memref<5xf32>)
// APPENDED:      return [[B]] : i1
func.func @callee(%p: !pair) -> !pair {
  return %p : !pair
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    [[X:%.*]]: tensor<5xf32>, [[B:%.*]]: i1) -> (tensor<5xf32>, i1) {
// CHECK-NEXT:    [[R:%.*]]:2 = call @callee([[X]], [[B]])
// CHECK-NEXT:    return [[R]]#0, [[R]]#1
// KEPT-LABEL:  func.func @caller(
// KEPT:          [[R:%.*]]:2 = call @callee(
// KEPT-NEXT:     return [[R]]#0, [[R]]#1 : memref<5xf32>, i1
// APPENDED-LABEL: func.func @caller(
// APPENDED-SAME: [[X:%.*]]: memref<5xf32>, [[B:%.*]]: i1, [[O:%.*]]: memref<5xf32>) -> i1 {
// APPENDED-NEXT: [[A:%.*]] = memref.alloc()
// APPENDED-NEXT: [[C:%.*]] = call @callee([[X]], [[B]], [[A]])
// APPENDED-NEXT: linalg.generic {{.*}} ins([[A]] : memref<5xf32>) outs([[O]] : memref<5xf32>)
// APPENDED:      return [[C]] : i1
func.func @caller(%p: !pair) -> !pair {
  %x = call @callee(%p) : (!pair) -> !pair
  return %x : !pair
}

// -----

// What is made of tuples in turn, attributes, and a declaration.
// CHECK:       func.func private @declared(tensor<4xf32> {hotdesk.donated}, f32 {hotdesk.donated}, index) -> (index, index)
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    [[A:%.*]]: tensor<4xf32>, [[B:%.*]]: f32, [[C:%.*]]: index)
// CHECK-NEXT:    [[R:%.*]]:2 = call @declared([[A]], [[B]], [[C]])
// CHECK-NEXT:    return [[R]]#0, [[R]]#1 : index, index
func.func private @declared(tuple<tuple<tensor<4xf32>>, f32> {hotdesk.donated}, index) -> tuple<index, index>
func.func @nested(%p: tuple<tuple<tensor<4xf32>>, f32>, %i: index) -> tuple<index, index> {
  %r = call @declared(%p, %i) : (tuple<tuple<tensor<4xf32>>, f32>, index) -> tuple<index, index>
  return %r : tuple<index, index>
}

// -----

// Blocks get the parts, and branches pass them on.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    [[C:%.*]]: i1, [[I:%.*]]: i32, [[X:%.*]]: tensor<4xf32>, [[N:%.*]]: index)
// CHECK-NEXT:    cf.cond_br [[C]], ^bb1([[X]], [[N]] : tensor<4xf32>, index), ^bb2([[N]], [[X]], [[N]] : index, tensor<4xf32>, index)
// CHECK:       ^bb1([[Y:%.*]]: tensor<4xf32>, [[M:%.*]]: index):
// CHECK-NEXT:    cf.switch [[I]] : i32, [
// CHECK-NEXT:      default: ^bb3([[Y]], [[M]] : tensor<4xf32>, index),
// CHECK-NEXT:      7: ^bb2([[M]], [[Y]], [[M]] : index, tensor<4xf32>, index)
// CHECK:       ^bb2([[K:%.*]]: index, [[Z:%.*]]: tensor<4xf32>, %{{.*}}: index):
// CHECK-NEXT:    cf.br ^bb3([[Z]], [[K]] : tensor<4xf32>, index)
// CHECK:       ^bb3([[W:%.*]]: tensor<4xf32>, [[L:%.*]]: index):
// CHECK-NEXT:    return [[W]], [[L]]
// KEPT-LABEL:  func.func @blocks(
// KEPT:          cf.cond_br %{{.*}}, ^bb1(%{{.*}} : memref<4xf32>, index), ^bb2(
// KEPT:          return %{{.*}} : memref<4xf32>, index
func.func @blocks(%c: i1, %i: i32, %p: tuple<tensor<4xf32>, index>) -> tuple<tensor<4xf32>, index> {
  %x, %n = builtin.unrealized_conversion_cast %p : tuple<tensor<4xf32>, index> to tensor<4xf32>, index
  cf.cond_br %c, ^one(%p : tuple<tensor<4xf32>, index>), ^two(%n, %p : index, tuple<tensor<4xf32>, index>)
^one(%q: tuple<tensor<4xf32>, index>):
  %y, %m = builtin.unrealized_conversion_cast %q : tuple<tensor<4xf32>, index> to tensor<4xf32>, index
  cf.switch %i : i32, [
    default: ^end(%q : tuple<tensor<4xf32>, index>),
    7: ^two(%m, %q : index, tuple<tensor<4xf32>, index>)
  ]
^two(%k: index, %s: tuple<tensor<4xf32>, index>):
  %z, %o = builtin.unrealized_conversion_cast %s : tuple<tensor<4xf32>, index> to tensor<4xf32>, index
  %t = builtin.unrealized_conversion_cast %z, %k : tensor<4xf32>, index to tuple<tensor<4xf32>, index>
  cf.br ^end(%t : tuple<tensor<4xf32>, index>)
^end(%r: tuple<tensor<4xf32>, index>):
  return %r : tuple<tensor<4xf32>, index>
}

// -----

// Loops and branches with regions.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:    [[N:%.*]]: index, [[X:%.*]]: tensor<4xf32>, [[B:%.*]]: i1)
// CHECK:         [[R:%.*]]:2 = scf.for {{.*}} iter_args([[Y:%.*]] = [[X]], [[C:%.*]] = [[B]]) -> (tensor<4xf32>, i1) {
// CHECK-NEXT:      [[S:%.*]]:2 = scf.if [[C]] -> (tensor<4xf32>, i1) {
// CHECK-NEXT:        scf.yield [[Y]], [[C]] : tensor<4xf32>, i1
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield [[X]], [[B]] : tensor<4xf32>, i1
// CHECK:           scf.yield [[S]]#0, [[S]]#1
// CHECK:         return [[R]]#0, [[R]]#1
func.func @regions(%n: index, %p: tuple<tensor<4xf32>, i1>) -> tuple<tensor<4xf32>, i1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (tuple<tensor<4xf32>, i1>) {
    %y, %b = builtin.unrealized_conversion_cast %q : tuple<tensor<4xf32>, i1> to tensor<4xf32>, i1
    %s = scf.if %b -> (tuple<tensor<4xf32>, i1>) {
      scf.yield %q : tuple<tensor<4xf32>, i1>
    } else {
      scf.yield %p : tuple<tensor<4xf32>, i1>
    }
    scf.yield %s : tuple<tensor<4xf32>, i1>
  }
  return %r : tuple<tensor<4xf32>, i1>
}

// -----

// The empty tuple is nothing, and what holds no others stays.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return [[X]]
func.func @nothing(%p: tuple<>, %x: tensor<4xf32>) -> (tensor<4xf32>, tuple<>) {
  return %x, %p : tensor<4xf32>, tuple<>
}
