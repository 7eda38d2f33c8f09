// Options of one-shot bufferization, each on the same functions: what the signatures become, and which ops keep their tensors.
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=results=returned | FileCheck %s --check-prefix=RETURNED
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize="results=returned buffer-alignment=128" | FileCheck %s --check-prefix=ALIGNED
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=bufferize-function-boundaries=false | FileCheck %s --check-prefix=INSIDE
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=function-boundary-type-conversion=fully-dynamic-layout-map | FileCheck %s --check-prefix=STRIDED
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=function-boundary-type-conversion=infer-layout-map | FileCheck %s --check-prefix=STRIDED

// What is written is new memory, since %x is read behind it.
// RETURNED-LABEL: func.func @filled(%arg0: memref<8xf32>, %arg1: index) -> (memref<8xf32>, f32)
// RETURNED:         return %alloc, %0 : memref<8xf32>, f32
// ALIGNED-LABEL:  func.func @filled(
// ALIGNED:          memref.alloc() {alignment = 128 : i64}
// INSIDE-LABEL:   func.func @filled(%arg0: tensor<8xf32>, %arg1: index) -> (tensor<8xf32>, f32)
// INSIDE:           bufferization.to_buffer %arg0 read_only : tensor<8xf32> to memref<8xf32, strided<[?], offset: ?>>
// INSIDE:           [[R:%.+]] = bufferization.to_tensor %alloc
// INSIDE-NEXT:      return [[R]],
func.func @filled(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, f32) {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %x[%n] : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, f32
}

// A donated argument is only read where the signature stays.
// INSIDE-LABEL: func.func @filled_over(
// INSIDE:         linalg.fill ins(%cst : f32) outs(%alloc
func.func @filled_over(%x: tensor<8xf32> {hotdesk.donated}, %n: index) -> (tensor<8xf32>, f32) {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %x[%n] : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, f32
}

// An argument that is returned is new memory.
// RETURNED-LABEL:   func.func @same(
// RETURNED-COUNT-1: memref.alloc
// RETURNED-NOT:     memref.alloc
// RETURNED:         return %alloc : memref<8xf32>
func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// INSIDE-LABEL: func.func private @declared(tensor<8xf32>) -> tensor<8xf32>
func.func private @declared(tensor<8xf32>) -> tensor<8xf32>

// A call keeps its tensors where signatures stay.
// INSIDE-LABEL: func.func @calls_declared(
// INSIDE:         call @declared(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
func.func @calls_declared(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @declared(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func private @defined(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A caller takes what its callee returns.
// RETURNED-LABEL: func.func @calls_defined(
// RETURNED:         %0 = call @defined(%arg0) : (memref<8xf32>) -> memref<8xf32>
func.func @calls_defined(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @defined(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// STRIDED: func.func private @seen(memref<8xf32, strided<[?], offset: ?>>)
func.func private @seen(tensor<8xf32>)

// Nowhere is an argument taken to be without gaps.
// STRIDED-LABEL: func.func @inserted(%arg0: memref<8xf32, strided<[?], offset: ?>> {hotdesk.donated},
// STRIDED-NOT:     memref<8xf32, strided<[?], offset: ?>> to memref<8xf32
// STRIDED-NOT:     to memref<8xf32>
// STRIDED:         iter_args(%{{.*}} = %arg0) -> (memref<8xf32, strided<[?], offset: ?>>)
// STRIDED-NOT:     memref<8xf32, strided<[?], offset: ?>> to memref<8xf32
// STRIDED-NOT:     to memref<8xf32>
func.func @inserted(%x: tensor<8xf32> {hotdesk.donated}, %n: index, %c: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  call @seen(%x) : (tensor<8xf32>) -> ()
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %z = tensor.insert %c into %y[%i] : tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
