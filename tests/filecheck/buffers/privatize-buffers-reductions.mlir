// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers="threads=1" | FileCheck %s --check-prefix=ONE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers="max-growth-in-bytes=0" --print-decisions 2>&1 | FileCheck %s --check-prefix=NONE

// 33 chunks of 2 rows, but for the last one, which has 1; on one thread as well.
// CHECK:       decision: parallel loop: in parallel: partial-results, 192 bytes (scf.parallel at
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    [[Z:%arg2]]: i32)
// CHECK:         [[P:%.*]] = memref.alloc() : memref<33xi32>
// CHECK:         scf.parallel ([[C:%.*]]) = (%c0{{.*}}) to (%c33{{.*}}) step (%c1{{.*}}) {
// CHECK:           [[FIRST:%.*]] = arith.muli [[C]], %c2{{.*}} : index
// CHECK:           [[REST:%.*]] = arith.subi %c65{{.*}}, [[FIRST]] : index
// CHECK:           [[LAST:%.*]] = arith.minsi [[REST]], %c2{{.*}} : index
// CHECK:           [[Q:%.*]] = scf.for [[K:%.*]] = %c0{{.*}} to [[LAST]] step %c1{{.*}} iter_args([[A:%.*]] = %c0_i32{{.*}}) -> (i32) {
// CHECK:             [[I:%.*]] = arith.addi [[FIRST]], [[K]] : index
// CHECK:             [[R:%.*]] = scf.for [[J:%.*]] = %c0{{.*}} to %c2{{.*}} iter_args([[B:%.*]] = [[A]]) -> (i32) {
// CHECK:               [[V:%.*]] = memref.load %{{.*}}[[[I]], [[J]]]
// CHECK:               [[S:%.*]] = arith.addi [[B]], [[V]] : i32
// CHECK-NEXT:          scf.yield [[S]] : i32
// CHECK:             scf.yield [[R]] : i32
// CHECK:           memref.store [[Q]], [[P]][[[C]]] : memref<33xi32>
// CHECK-NEXT:      scf.reduce
// CHECK:         [[ALL:%.*]] = scf.for [[C2:%.*]] = %c0{{.*}} to %c33{{.*}} iter_args([[T:%.*]] = [[Z]]) -> (i32) {
// CHECK:           [[PART:%.*]] = memref.load [[P]][[[C2]]] : memref<33xi32>
// CHECK:           [[U:%.*]] = arith.addi [[T]], [[PART]] : i32
// CHECK:           scf.yield [[U]] : i32
// CHECK:         memref.dealloc [[P]]
// CHECK:         return [[ALL]]
// ONE-LABEL:   func.func @rows(
// ONE:           memref.alloc() : memref<33xi32>
// ONE:           scf.parallel ({{.*}}) = (%c0{{.*}}) to (%c33{{.*}}) step (%c1{{.*}}) {
// NONE:        decision: parallel loop: in sequence: frames-raise-peak, 192 bytes (scf.parallel at
// NONE-LABEL:  func.func @rows(
// NONE:          scf.reduce(%{{.*}} : i32)
func.func @rows(%x: memref<65x8192xi32>, %y: memref<65x2x8192xi32>, %z: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 65 : index
  %r = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c2) step (%c1, %c1) init(%z) -> i32 {
    %p = memref.subview %x[%i, 0] [1, 8192] [1, 1] : memref<65x8192xi32> to memref<8192xi32, strided<[1], offset: ?>>
    %q = memref.subview %y[%i, %j, 0] [1, 1, 8192] [1, 1, 1] : memref<65x2x8192xi32> to memref<8192xi32, strided<[1], offset: ?>>
    linalg.add ins(%p, %p : memref<8192xi32, strided<[1], offset: ?>>, memref<8192xi32, strided<[1], offset: ?>>)
      outs(%q : memref<8192xi32, strided<[1], offset: ?>>)
    %v = memref.load %x[%i, %j] : memref<65x8192xi32>
    scf.reduce(%v : i32) {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b overflow<nsw> : i32
      scf.reduce.return %s : i32
    }
  }
  return %r : i32
}

// -----

// How long the chunks are, and how many, is computed in front of them; the loop begins and steps as it did.
// CHECK:       decision: parallel loop: in parallel: partial-results, 768 bytes (scf.parallel at
// CHECK-LABEL: func.func @open(
// CHECK-SAME:    [[X:%.*]]: memref<?xf32>, [[N:%.*]]: index)
// CHECK:         [[END:%.*]] = arith.minsi [[N]]
// CHECK:         [[SPAN:%.*]] = arith.subi [[END]], %c2{{.*}} : index
// CHECK:         [[CEIL:%.*]] = arith.ceildivsi [[SPAN]], %c3{{.*}} : index
// CHECK:         [[TRIPS:%.*]] = arith.maxsi [[CEIL]], %c0{{.*}} : index
// CHECK:         [[PARTS:%.*]] = arith.ceildivsi [[TRIPS]], %c64{{.*}} : index
// CHECK:         [[LENGTH:%.*]] = arith.maxsi [[PARTS]], %c16{{.*}} : index
// CHECK:         [[COUNT:%.*]] = arith.ceildivsi [[TRIPS]], [[LENGTH]] : index
// CHECK:         memref.alloc() : memref<64xf32>
// CHECK:         memref.alloc() : memref<64xi64>
// CHECK:         scf.parallel ([[C:%.*]]) = (%c0{{.*}}) to ([[COUNT]]) step (%c1{{.*}}) {
// CHECK:           [[LOWEST:%.*]] = arith.constant 0xFF800000 : f32
// CHECK:           [[UNIT:%.*]] = arith.constant 1 : i64
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = [[LOWEST]], %{{.*}} = [[UNIT]]) -> (f32, i64) {
// CHECK:             [[NUMBER:%.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK:             [[STEPS:%.*]] = arith.muli [[NUMBER]], %c3{{.*}} : index
// CHECK:             [[I:%.*]] = arith.addi [[STEPS]], %c2{{.*}} : index
// CHECK:             memref.load [[X]][[[I]]]
// CHECK:             arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK:             arith.muli %{{.*}}, %{{.*}} : i64
func.func @open(%x: memref<?xf32>, %n: index) -> (f32, i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %o = arith.constant 1 : i64
  %size = memref.dim %x, %c0 : memref<?xf32>
  %end = arith.minsi %n, %size : index
  %r:2 = scf.parallel (%i) = (%c2) to (%end) step (%c3) init(%z, %o) -> (f32, i64) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.fptosi %v : f32 to i64
    scf.reduce(%v, %w : f32, i64) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.maximumf %a, %b fastmath<ninf> : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: i64, %b: i64):
      %s = arith.muli %b, %a : i64
      scf.reduce.return %s : i64
    }
  }
  return %r#0, %r#1 : f32, i64
}

// -----

// What iterations allocate lies in the frame of the worker that does the chunk: two of them, of 32 chunks each.
// CHECK:       decision: parallel loop: in parallel: partial-results, 33024 bytes (scf.parallel at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @allocates(
// CHECK:         [[P:%.*]] = memref.alloc() : memref<64xf32>
// CHECK:         [[FRAME:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<65536xi8>
// CHECK:         scf.parallel ([[W:%.*]]) = (%c0{{.*}}) to (%c2{{.*}}) step
// CHECK:           scf.for {{.*}} = %c0{{.*}} to %c32{{.*}} step
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               memref.view [[FRAME]]
// CHECK:             memref.store %{{.*}}, [[P]]
// CHECK:         memref.dealloc [[FRAME]]
// CHECK:         scf.for {{.*}} iter_args
// CHECK:         memref.dealloc [[P]]
// ONE-LABEL:   func.func @allocates(
// ONE:           [[P:%.*]] = memref.alloc() : memref<64xf32>
// ONE:           scf.parallel ({{.*}}) = (%c0{{.*}}) to (%c64{{.*}}) step (%c1{{.*}}) {
// ONE:             scf.for {{.*}} iter_args
// ONE:               memref.alloc() : memref<8192xf32>
// ONE:               memref.dealloc
// ONE:             memref.store %{{.*}}, [[P]]
func.func @allocates(%x: memref<128x8192xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %z = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z) -> f32 {
    %q = memref.subview %x[%i, 0] [1, 8192] [1, 1] : memref<128x8192xf32> to memref<8192xf32, strided<[1], offset: ?>>
    %a = memref.alloc() : memref<8192xf32>
    linalg.exp ins(%q : memref<8192xf32, strided<[1], offset: ?>>) outs(%a : memref<8192xf32>)
    %v = memref.load %a[%i] : memref<8192xf32>
    memref.dealloc %a : memref<8192xf32>
    scf.reduce(%v : f32) {
    ^bb0(%p: f32, %s: f32):
      %t = arith.minimumf %p, %s : f32
      scf.reduce.return %t : f32
    }
  }
  return %r : f32
}
