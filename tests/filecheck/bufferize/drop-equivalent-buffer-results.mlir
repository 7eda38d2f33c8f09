// RUN: %hotdesk-opt %s --split-input-file --hotdesk-drop-equivalent-buffer-results --print-decisions 2>&1 | FileCheck %s

// A result that is an argument is dropped, and the caller uses what it gave; other results stay.
// CHECK:       decision: result 0 of @f: lent: equals-argument
// CHECK-LABEL: func.func private @f(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[N:%.*]]: index) -> index {
// CHECK-NEXT:    return [[N]] : index
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    [[A:%.*]]: memref<4xf32>, [[N:%.*]]: index)
// CHECK-NEXT:    [[M:%.*]] = call @f([[A]], [[N]]) : (memref<4xf32>, index) -> index
// CHECK-NEXT:    memref.load [[A]][[[M]]]
func.func private @f(%x: memref<4xf32>, %n: index) -> (memref<4xf32>, index) {
  return %x, %n : memref<4xf32>, index
}
func.func @caller(%a: memref<4xf32>, %n: index) -> f32 {
  %r, %m = call @f(%a, %n) : (memref<4xf32>, index) -> (memref<4xf32>, index)
  %s = memref.load %r[%m] : memref<4xf32>
  return %s : f32
}

// -----

// Rule 1: through casts, and on every path. Result attributes stay with their results.
// CHECK-LABEL: func.func private @paths(
// CHECK-SAME:    -> (index {test.kept})
// CHECK:         return %{{.*}} : index
// CHECK:         return %{{.*}} : index
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    [[A:%.*]]: memref<4xf32>,
// CHECK-NEXT:    call @paths([[A]],
// CHECK-NEXT:    [[C:%.*]] = memref.cast [[A]] : memref<4xf32> to memref<?xf32>
// CHECK-NEXT:    return [[C]]
func.func private @paths(%x: memref<4xf32>, %b: i1, %n: index) -> (memref<?xf32> {test.dropped}, index {test.kept}) {
  %c = memref.cast %x : memref<4xf32> to memref<?xf32>
  cf.cond_br %b, ^one, ^two
^one:
  return %c, %n : memref<?xf32>, index
^two:
  %d = memref.cast %x : memref<4xf32> to memref<?xf32>
  return %d, %n : memref<?xf32>, index
}
func.func @caller(%a: memref<4xf32>, %b: i1, %n: index) -> memref<?xf32> {
  %r:2 = call @paths(%a, %b, %n) : (memref<4xf32>, i1, index) -> (memref<?xf32>, index)
  return %r#0 : memref<?xf32>
}

// -----

// What a caller returned is an argument in turn.
// CHECK-LABEL: func.func private @outer(
// CHECK-SAME:    [[X:%.*]]: memref<f32>) {
// CHECK-NEXT:    call @inner([[X]]) : (memref<f32>) -> ()
// CHECK-NEXT:    return{{$}}
// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:    {{%.*}}: memref<f32>) {
func.func private @outer(%x: memref<f32>) -> memref<f32> {
  %r = call @inner(%x) : (memref<f32>) -> memref<f32>
  return %r : memref<f32>
}
func.func private @inner(%x: memref<f32>) -> memref<f32> {
  return %x : memref<f32>
}

// -----

// Rule 1: different arguments, an argument of an inner block, a part of one.
// CHECK-LABEL: func.func private @different(
// CHECK-SAME:    -> memref<4xf32>
// CHECK-LABEL: func.func private @block(
// CHECK-SAME:    -> memref<4xf32>
// CHECK-LABEL: func.func private @part(
// CHECK-SAME:    -> memref<2xf32, strided<[1]>>
func.func private @different(%x: memref<4xf32>, %y: memref<4xf32>, %b: i1) -> memref<4xf32> {
  cf.cond_br %b, ^one, ^two
^one:
  return %x : memref<4xf32>
^two:
  return %y : memref<4xf32>
}
func.func private @block(%x: memref<4xf32>, %y: memref<4xf32>, %b: i1) -> memref<4xf32> {
  cf.cond_br %b, ^one(%x : memref<4xf32>), ^one(%y : memref<4xf32>)
^one(%z: memref<4xf32>):
  return %z : memref<4xf32>
}
func.func private @part(%x: memref<4xf32>) -> memref<2xf32, strided<[1]>> {
  %v = memref.subview %x[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  return %v : memref<2xf32, strided<[1]>>
}

// -----

// Rules 2 and 3.
// CHECK:       decision: result 0 of @public: lent: public-function
// CHECK:       decision: result 0 of @taken: lent: address-taken, 0 bytes (func.constant at
// CHECK-LABEL: func.func @public(
// CHECK-SAME:    -> memref<4xf32>
// CHECK-LABEL: func.func private @taken(
// CHECK-SAME:    -> memref<4xf32>
func.func @public(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
func.func private @taken(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
func.func @caller(%x: memref<4xf32>) -> memref<4xf32> {
  %f = constant @taken : (memref<4xf32>) -> memref<4xf32>
  %r = call_indirect %f(%x) : (memref<4xf32>) -> memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  return %c : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @nothing() {
func.func @nothing() {
  return
}
func.func private @elsewhere(memref<4xf32>) -> memref<4xf32>
