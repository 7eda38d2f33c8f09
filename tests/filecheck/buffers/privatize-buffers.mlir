// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers --print-decisions 2>&1 | FileCheck %s

// Two workers do 32 iterations and 31, each in memory of its own.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 32768 bytes (scf.forall at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @uneven(
// CHECK-SAME:    [[Y:%.*]]: memref<63xf32>)
// CHECK:         [[FRAME:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<65536xi8>
// CHECK:         scf.parallel ([[W:%.*]]) = (%{{.*}}) to (%c2{{.*}}) step
// CHECK:           [[FIRST:%.*]] = arith.muli [[W]], %c32{{.*}} : index
// CHECK:           [[ROW:%.*]] = arith.muli [[W]], %c32768{{.*}} : index
// CHECK:           scf.for [[K:%.*]] = %c0{{.*}} to %c32{{.*}} step %c1
// CHECK:             [[I:%.*]] = arith.addi [[FIRST]], [[K]] : index
// CHECK:             [[IN:%.*]] = arith.cmpi slt, [[I]], %c63{{.*}} : index
// CHECK:             scf.if [[IN]] {
// CHECK:               memref.load [[Y]][[[I]]]
// CHECK:               [[A:%.*]] = memref.view [[FRAME]][[[ROW]]][] : memref<65536xi8> to memref<8192xf32>
// CHECK:               linalg.fill ins(%{{.*}}) outs([[A]] : memref<8192xf32>)
// CHECK-NOT:           memref.dealloc
// CHECK:           scf.reduce
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc [[FRAME]]
func.func @uneven(%y: memref<63xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (63) {
    %v = memref.load %y[%i] : memref<63xf32>
    %a = memref.alloc() : memref<8192xf32>
    linalg.fill ins(%v : f32) outs(%a : memref<8192xf32>)
    %w = memref.load %a[%c0] : memref<8192xf32>
    memref.dealloc %a : memref<8192xf32>
    memref.store %w, %y[%i] : memref<63xf32>
  }
  return
}

// -----

// Two allocations that are never in use at one time share the memory, of other elements too: %a is first used behind %b.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 32768 bytes
// CHECK-LABEL: func.func @two_share(
// CHECK:         [[FRAME:%.*]] = memref.alloc() {{.*}} : memref<65536xi8>
// CHECK-NOT:     memref.alloc
// CHECK:         memref.view [[FRAME]][[[ROW:%.*]]][] : memref<65536xi8> to memref<1000xf64>
// CHECK:         memref.view [[FRAME]][[[ROW]]][] : memref<65536xi8> to memref<8192xf32>
func.func @two_share(%y: memref<64x8192xf32>) {
  scf.forall (%i) in (64) {
    %q = memref.subview %y[%i, 0] [1, 8192] [1, 1] : memref<64x8192xf32> to memref<8192xf32, strided<[1], offset: ?>>
    %a = memref.alloc() : memref<1000xf64>
    %b = memref.alloc() : memref<8192xf32>
    linalg.exp ins(%q : memref<8192xf32, strided<[1], offset: ?>>) outs(%b : memref<8192xf32>)
    linalg.exp ins(%b : memref<8192xf32>) outs(%q : memref<8192xf32, strided<[1], offset: ?>>)
    memref.dealloc %b : memref<8192xf32>
    linalg.exp ins(%a : memref<1000xf64>) outs(%a : memref<1000xf64>)
    memref.dealloc %a : memref<1000xf64>
  }
  return
}

// -----

// Two rows take no more than what is in use before: the peak does not grow.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 0 bytes
// CHECK-LABEL: func.func @no_more(
// CHECK:         memref.alloc() : memref<16384xf32>
// CHECK:         memref.alloc() {{.*}} : memref<65536xi8>
// CHECK:         scf.parallel
func.func @no_more(%y: memref<64x8192xf32>) {
  %before = memref.alloc() : memref<16384xf32>
  linalg.exp ins(%before : memref<16384xf32>) outs(%before : memref<16384xf32>)
  memref.dealloc %before : memref<16384xf32>
  scf.forall (%i) in (64) {
    %q = memref.subview %y[%i, 0] [1, 8192] [1, 1] : memref<64x8192xf32> to memref<8192xf32, strided<[1], offset: ?>>
    %b = memref.alloc() : memref<8192xf32>
    linalg.exp ins(%q : memref<8192xf32, strided<[1], offset: ?>>) outs(%b : memref<8192xf32>)
    linalg.exp ins(%b : memref<8192xf32>) outs(%q : memref<8192xf32, strided<[1], offset: ?>>)
    memref.dealloc %b : memref<8192xf32>
  }
  return
}

// -----

// Another row of 400,000 bytes is more than 256 KiB.
// CHECK:       decision: parallel loop: in sequence: frames-raise-peak, 400000 bytes
// CHECK-LABEL: func.func @too_large(
// CHECK:         scf.forall
// CHECK:         memref.alloc() : memref<100000xf32>
func.func @too_large(%y: memref<64x100000xf32>) {
  scf.forall (%i) in (64) {
    %q = memref.subview %y[%i, 0] [1, 100000] [1, 1] : memref<64x100000xf32> to memref<100000xf32, strided<[1], offset: ?>>
    %b = memref.alloc() : memref<100000xf32>
    linalg.exp ins(%q : memref<100000xf32, strided<[1], offset: ?>>) outs(%b : memref<100000xf32>)
    linalg.exp ins(%b : memref<100000xf32>) outs(%q : memref<100000xf32, strided<[1], offset: ?>>)
    memref.dealloc %b : memref<100000xf32>
  }
  return
}

// -----

// A size that is not known has a limit. How many iterations each of the workers does, is computed in front of them.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 32768 bytes
// CHECK-LABEL: func.func @limited(
// CHECK-SAME:    [[N:%.*]]: index)
// CHECK:         [[LENGTH:%.*]] = arith.subi [[N]], %c0{{.*}} : index
// CHECK:         [[TRIPS:%.*]] = arith.ceildivsi [[LENGTH]], %c1{{.*}} : index
// CHECK:         [[COUNT:%.*]] = arith.maxsi [[TRIPS]], %c0{{.*}} : index
// CHECK:         [[FRAME:%.*]] = memref.alloc() {{.*}} : memref<65536xi8>
// CHECK:         [[SHARE:%.*]] = arith.ceildivsi [[COUNT]], %c2{{.*}} : index
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to [[SHARE]]
// CHECK:           memref.view [[FRAME]][%{{.*}}][%{{.*}}] : memref<65536xi8> to memref<?xf32>
func.func @limited(%n: index) {
  %c8192 = arith.constant 8192 : index
  scf.forall (%i) in (%n) {
    %m = arith.minsi %i, %c8192 : index
    %a = memref.alloc(%m) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  }
  return
}

// -----

// Loops inside that allocate run one iteration after the other, all in the memory of the worker.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 16384 bytes
// CHECK-LABEL: func.func @inside(
// CHECK:         [[FRAME:%.*]] = memref.alloc() {{.*}} : memref<32768xi8>
// CHECK:         scf.parallel
// CHECK-NOT:     scf.forall
// CHECK:           scf.for
// CHECK:             scf.for %{{.*}} = %c0{{.*}} to %c8
// CHECK:               memref.view [[FRAME]][[[ROW:%.*]]][]
// CHECK:             [[SUM:%.*]] = scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} iter_args([[S:%.*]] = %{{.*}}) -> (f32) {
// CHECK:               memref.view [[FRAME]][[[ROW]]][]
// CHECK:               [[NEXT:%.*]] = arith.addf [[S]]
// CHECK:               scf.yield [[NEXT]]
// CHECK:             memref.store [[SUM]]
func.func @inside(%y: memref<16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.forall (%i) in (16) {
    scf.forall (%j) in (8) {
      %a = memref.alloc() : memref<4096xf32>
      linalg.fill ins(%z : f32) outs(%a : memref<4096xf32>)
      linalg.exp ins(%a : memref<4096xf32>) outs(%a : memref<4096xf32>)
      %v = memref.load %a[%j] : memref<4096xf32>
      memref.dealloc %a : memref<4096xf32>
      memref.store %v, %y[%i, %j] : memref<16x8xf32>
    }
    %r = scf.parallel (%k) = (%c0) to (%c8) step (%c1) init(%z) -> f32 {
      %b = memref.alloc() : memref<4096xf32>
      linalg.fill ins(%z : f32) outs(%b : memref<4096xf32>)
      %v = memref.load %b[%k] : memref<4096xf32>
      memref.dealloc %b : memref<4096xf32>
      scf.reduce(%v : f32) {
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        scf.reduce.return %s : f32
      }
    }
    memref.store %r, %y[%i, %c0] : memref<16x8xf32>
  }
  return
}
