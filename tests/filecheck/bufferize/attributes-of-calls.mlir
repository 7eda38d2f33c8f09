// What a call says of its operands and results stays with them, whatever is added or taken away; of what is new nothing is said.
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-drop-equivalent-buffer-results | FileCheck %s --check-prefix=DROPPED
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-results-to-out-params | FileCheck %s --check-prefix=PLACED
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation=private-function-dynamic-ownership=true | FileCheck %s --check-prefix=FLAGGED
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s --check-prefix=WHOLE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-types | FileCheck %s --check-prefix=PARTS
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reuse-arguments | FileCheck %s --check-prefix=REUSED

func.func private @either(%x: memref<4xf32>, %b: i1) -> (memref<4xf32>, f32) {
  %c = arith.constant 1.0 : f32
  return %x, %c : memref<4xf32>, f32
}
// DROPPED-LABEL: func.func @one_result(
// DROPPED:         call @either({{.*}}) {arg_attrs = [{llvm.noalias}, {}], res_attrs = [{test.second}]} : (memref<4xf32>, i1) -> f32
// PLACED-LABEL:  func.func @one_result(
// PLACED:          call @either({{.*}}) {arg_attrs = [{llvm.noalias}, {}, {}], res_attrs = [{test.second}]} : (memref<4xf32>, i1, memref<4xf32>) -> f32
func.func @one_result(%x: memref<4xf32>, %b: i1) -> f32 {
  %r:2 = "func.call"(%x, %b) <{
    callee = @either, arg_attrs = [{llvm.noalias}, {}], res_attrs = [{test.first}, {test.second}]
  }> : (memref<4xf32>, i1) -> (memref<4xf32>, f32)
  %i = arith.constant 0 : index
  %s = memref.load %r#0[%i] : memref<4xf32>
  %t = arith.addf %s, %r#1 : f32
  return %t : f32
}

// -----

func.func private @given_or_new(%x: memref<4xf32>, %b: i1) -> memref<4xf32> {
  cf.cond_br %b, ^given, ^new
^given:
  return %x : memref<4xf32>
^new:
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}
// FLAGGED-LABEL: func.func @flag(
// FLAGGED:         call @given_or_new({{.*}}) {arg_attrs = [{}, {test.told}], res_attrs = [{test.first}, {}]} : (memref<4xf32>, i1) -> (memref<4xf32>, i1)
func.func @flag(%x: memref<4xf32>, %b: i1) -> f32 {
  %r = "func.call"(%x, %b) <{callee = @given_or_new, arg_attrs = [{}, {test.told}], res_attrs = [{test.first}]}>
    : (memref<4xf32>, i1) -> memref<4xf32>
  %i = arith.constant 0 : index
  %s = memref.load %r[%i] : memref<4xf32>
  return %s : f32
}

// -----

func.func private @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, f32, tensor<4xf32>) {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r, %c, %r : tensor<4xf32>, f32, tensor<4xf32>
}
// WHOLE-LABEL: func.func @place(
// WHOLE:         call @twice({{.*}}) {arg_attrs = [{test.told}, {}], res_attrs = [{test.second}]} : (memref<4xf32>, memref<4xf32>) -> f32
func.func @place(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %r:3 = "func.call"(%x) <{
    callee = @twice, arg_attrs = [{test.told}], res_attrs = [{test.first}, {test.second}, {test.third}]
  }> : (tensor<4xf32>) -> (tensor<4xf32>, f32, tensor<4xf32>)
  %s = linalg.add ins(%r#0, %r#2 : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %s, %r#1 : tensor<4xf32>, f32
}

// -----

func.func private @pair(%n: index, %p: tuple<tensor<5xf32>, i1>) -> (index, tuple<tensor<5xf32>, i1>) {
  return %n, %p : index, tuple<tensor<5xf32>, i1>
}
// PARTS-LABEL: func.func @parts(
// PARTS:         call @pair({{.*}}) {arg_attrs = [{}, {test.told}, {test.told}], res_attrs = [{test.first}, {test.second}, {test.second}]}
func.func @parts(%n: index, %p: tuple<tensor<5xf32>, i1>) -> tuple<tensor<5xf32>, i1> {
  %r:2 = "func.call"(%n, %p) <{callee = @pair, arg_attrs = [{}, {test.told}], res_attrs = [{test.first}, {test.second}]}>
    : (index, tuple<tensor<5xf32>, i1>) -> (index, tuple<tensor<5xf32>, i1>)
  return %r#1 : tuple<tensor<5xf32>, i1>
}

// -----

func.func private @f(%n: index, %x: memref<16xf32>, %out: memref<16xf32>) {
  %s = memref.load %x[%n] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%out : memref<16xf32>)
  return
}
// REUSED-LABEL: func.func @over(
// REUSED:         call @f_over_1({{.*}}) {arg_attrs = [{test.number}, {}]} : (index, memref<16xf32>) -> ()
func.func @over(%n: index, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%y : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<16xf32>
  "func.call"(%n, %a, %r) <{callee = @f, arg_attrs = [{test.number}, {llvm.noalias}, {llvm.noalias}]}>
    : (index, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.exp ins(%r : memref<16xf32>) outs(%y : memref<16xf32>)
  memref.dealloc %r : memref<16xf32>
  return
}
