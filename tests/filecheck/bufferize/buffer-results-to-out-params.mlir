// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-buffer-results-to-out-params{hoist-static-allocs=true hoist-dynamic-allocs=true})' --print-decisions 2>&1 | FileCheck %s

// The allocation is the caller's; results that are no memory stay.
// CHECK:       decision: result 0 of @static: lent: result-slot, 16 bytes (memref.alloc at {{.*}}:15:8, func.return at {{.*}}:17:3)
// CHECK-LABEL: func.func private @static(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[N:%.*]]: index, [[OUT:%.*]]: memref<4xf32>) -> index {
// CHECK-NEXT:    linalg.map { math.exp } ins([[X]] : memref<4xf32>) outs([[OUT]] :
// CHECK-NEXT:    return [[N]] : index
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    [[A:%.*]]: memref<4xf32>, [[N:%.*]]: index)
// CHECK-NEXT:    [[R:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT:    [[M:%.*]] = call @static([[A]], [[N]], [[R]]) : (memref<4xf32>, index, memref<4xf32>) -> index
// CHECK-NEXT:    memref.load [[R]][[[M]]]
func.func private @static(%x: memref<4xf32>, %n: index) -> (memref<4xf32>, index) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a, %n : memref<4xf32>, index
}
func.func @caller(%a: memref<4xf32>, %n: index) -> f32 {
  %r, %m = call @static(%a, %n) : (memref<4xf32>, index) -> (memref<4xf32>, index)
  %s = memref.load %r[%m] : memref<4xf32>
  return %s : f32
}

// -----

// The caller computes a size as the function would.
// CHECK-LABEL: func.func private @dynamic(
// CHECK-SAME:    {{%.*}}: memref<?xf32>, {{%.*}}: index, {{%.*}}: memref<?x?xf32>) {
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    [[A:%.*]]: memref<?xf32>)
// CHECK-NEXT:    [[FIVE:%.*]] = arith.constant 5
// CHECK-NEXT:    [[ZERO:%.*]] = arith.constant 0
// CHECK-NEXT:    [[D:%.*]] = memref.dim [[A]], [[ZERO]]
// CHECK-NEXT:    [[M:%.*]] = arith.muli [[D]], [[FIVE]]
// CHECK-NEXT:    [[R:%.*]] = memref.alloc([[M]], [[FIVE]]) : memref<?x?xf32>
// CHECK-NEXT:    call @dynamic([[A]], [[FIVE]], [[R]])
// CHECK-NEXT:    return [[R]]
func.func private @dynamic(%x: memref<?xf32>, %n: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  %m = arith.muli %d, %n : index
  %a = memref.alloc(%m, %n) : memref<?x?xf32>
  return %a : memref<?x?xf32>
}
func.func @caller(%a: memref<?xf32>) -> memref<?x?xf32> {
  %c5 = arith.constant 5 : index
  %r = call @dynamic(%a, %c5) : (memref<?xf32>, index) -> memref<?x?xf32>
  return %r : memref<?x?xf32>
}

// -----

// Returned twice: the second place is copied into. A path of its own copies too; a scalar's memory has no dimensions.
// CHECK:       decision: result 0 of @twice: lent: result-slot, 4 bytes (memref.alloc at {{.*}}:68:8, func.return at {{.*}}:69:3)
// CHECK:       decision: result 1 of @twice: copied: returned-twice, 4 bytes (memref.alloc at
// CHECK:       decision: result 0 of @paths: copied: allocated-inside
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME:    [[A:%[^ ]*]]: memref<f32>, [[B:%.*]]: memref<f32>) {
// CHECK-NEXT:    linalg.generic {{.*}} ins([[A]] : memref<f32>) outs([[B]] :
// CHECK-LABEL: func.func private @paths(
// CHECK-SAME:    [[X:%.*]]: memref<0xf32>, {{%.*}}: i1, [[OUT:%.*]]: memref<0xf32>) {
// CHECK:         [[A:%.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} ins([[A]] : memref<0xf32>) outs([[OUT]] :
// CHECK:         return{{$}}
// CHECK:         linalg.generic {{.*}} ins([[X]] : memref<0xf32>) outs([[OUT]] :
func.func private @twice() -> (memref<f32>, memref<f32>) {
  %a = memref.alloc() : memref<f32>
  return %a, %a : memref<f32>, memref<f32>
}
func.func private @paths(%x: memref<0xf32>, %b: i1) -> memref<0xf32> {
  %a = memref.alloc() : memref<0xf32>
  cf.cond_br %b, ^one, ^two
^one:
  return %a : memref<0xf32>
^two:
  return %x : memref<0xf32>
}

// -----

// Recursion: the function calls itself with memory for the result.
// CHECK-LABEL: func.func private @again(
// CHECK-SAME:    [[B:%.*]]: i1, [[OUT:%.*]]: memref<4xf32>) {
// CHECK:         [[R:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    func.call @again([[B]], [[R]]) : (i1, memref<4xf32>) -> ()
func.func private @again(%b: i1) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  scf.if %b {
    %r = func.call @again(%b) : (i1) -> memref<4xf32>
    linalg.map { math.exp } ins(%r : memref<4xf32>) outs(%a : memref<4xf32>)
  }
  return %a : memref<4xf32>
}

// -----

// Rule 4: any layout is a cast of a contiguous one; declarations follow.
// CHECK-LABEL: func.func private @elsewhere(i1, memref<4xf32, strided<[?], offset: ?>>){{$}}
// CHECK-LABEL: func.func @caller(
// CHECK:         [[A:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    [[C:%.*]] = memref.cast [[A]] : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
// CHECK-NEXT:    call @elsewhere({{%.*}}, [[C]])
func.func private @elsewhere(i1) -> memref<4xf32, strided<[?], offset: ?>>
func.func @caller(%b: i1, %i: index) -> f32 {
  %r = call @elsewhere(%b) : (i1) -> memref<4xf32, strided<[?], offset: ?>>
  %s = memref.load %r[%i] : memref<4xf32, strided<[?], offset: ?>>
  return %s : f32
}

// -----

// Left alone.
// CHECK:       decision: result 0 of @public: allocated: public-function
// CHECK:       decision: result 0 of @taken: allocated: address-taken, 16 bytes (memref.alloc at {{.*}}, func.return at {{.*}}, func.constant at
// CHECK:       decision: result 0 of @size_from_data: allocated: size-unknown-to-caller, 4*%n bytes (memref.alloc at
// CHECK:       decision: result 0 of @rows_with_gaps: allocated: different-layout, 16 bytes (memref.subview at
// CHECK-LABEL: func.func @public() -> memref<4xf32>
// CHECK-LABEL: func.func private @taken() -> memref<4xf32>
// CHECK-LABEL: func.func private @size_from_data({{.*}}) -> memref<?xf32>
// CHECK-LABEL: func.func private @rows_with_gaps({{.*}}) -> memref<4xf32, strided<[2]>>
func.func @public() -> memref<4xf32> {
  %f = constant @taken : () -> memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}
func.func private @taken() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}
func.func private @size_from_data(%x: memref<index>) -> memref<?xf32> {
  %n = memref.load %x[] : memref<index>
  %a = memref.alloc(%n) : memref<?xf32>
  return %a : memref<?xf32>
}
func.func private @rows_with_gaps(%x: memref<8xf32>) -> memref<4xf32, strided<[2]>> {
  %v = memref.subview %x[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
  return %v : memref<4xf32, strided<[2]>>
}
func.func @nothing() {
  return
}
