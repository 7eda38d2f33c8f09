// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// A dead larger buffer serves a smaller one: form 2.
// CHECK-LABEL: func.func @larger(
// CHECK:         [[A:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
// CHECK:         [[B:%.*]] = memref.reinterpret_cast [[A]] to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<16xf32> to memref<2x4xf32>
// CHECK:         linalg.fill {{.*}} outs([[B]] :
// CHECK:         memref.dealloc [[A]] : memref<16xf32>
func.func @larger(%z: f32, %o1: memref<16xf32>, %o2: memref<2x4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.copy %a, %o1 : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<2x4xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<2x4xf32>)
  memref.copy %b, %o2 : memref<2x4xf32> to memref<2x4xf32>
  memref.dealloc %b : memref<2x4xf32>
  return
}

// -----

// Other element types see the bytes: form 3.
// CHECK-LABEL: func.func @elements(
// CHECK:         [[M:%.*]] = memref.alloc() {alignment = 8 : i64} : memref<64xi8>
// CHECK:         memref.view [[M]][{{%.*}}][] : memref<64xi8> to memref<16xf32>
// CHECK:         memref.view [[M]][{{%.*}}][] : memref<64xi8> to memref<8xf64>
// CHECK:         memref.dealloc [[M]] : memref<64xi8>
// CHECK-NOT:     memref.dealloc
func.func @elements(%z: f32, %y: f64, %o1: memref<16xf32>, %o2: memref<8xf64>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.copy %a, %o1 : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<8xf64>
  linalg.fill ins(%y : f64) outs(%b : memref<8xf64>)
  memref.copy %b, %o2 : memref<8xf64> to memref<8xf64>
  memref.dealloc %b : memref<8xf64>
  return
}

// -----

// Rule 2: a smaller one does not serve a larger one.
// CHECK:       decision: allocation: allocated: too-small, 64 bytes
// CHECK-LABEL: func.func @smaller(
// CHECK:         memref.alloc() : memref<8xf32>
// CHECK:         memref.alloc() : memref<16xf32>
func.func @smaller(%z: f32, %o1: memref<16xf32>, %o2: memref<8xf32>) {
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %o2 : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.copy %a, %o1 : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}

// -----

// One symbol is one size, so its buffers are interchangeable; a part of what is known to be larger is as well; another symbol
// may be anything.
// CHECK:       decision: allocation: shared: live-range-ended, 400*s0 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 4*s0 bytes
// CHECK:       decision: allocation: allocated: size-not-proven, 400*s1 bytes
// CHECK-LABEL: func.func @symbols(
// CHECK:         [[BYTES:%.*]] = arith.muli
// CHECK:         [[M:%.*]] = memref.alloc([[BYTES]]) {alignment = 4 : i64} : memref<?xi8>
// CHECK:         memref.view [[M]][{{%.*}}][{{%.*}}] : memref<?xi8> to memref<?x100xf32>
// CHECK:         memref.view [[M]][{{%.*}}][{{%.*}}] : memref<?xi8> to memref<?x100xf32>
// CHECK:         memref.view [[M]][{{%.*}}][{{%.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.alloc({{%.*}}) : memref<?x100xf32>
func.func @symbols(%z: f32, %x: memref<?x100xf32> {hotdesk.shape = ["s0", "100"]}, %y: memref<?x100xf32> {hotdesk.shape = ["s1", "100"]}, %v: memref<?xf32>) {
  %i = arith.constant 0 : index
  %n = memref.dim %x, %i : memref<?x100xf32>
  %m = memref.dim %y, %i : memref<?x100xf32>
  %a = memref.alloc(%n) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?x100xf32>)
  memref.copy %a, %x : memref<?x100xf32> to memref<?x100xf32>
  memref.dealloc %a : memref<?x100xf32>
  %b = memref.alloc(%n) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?x100xf32>)
  memref.copy %b, %x : memref<?x100xf32> to memref<?x100xf32>
  memref.dealloc %b : memref<?x100xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<?xf32>)
  memref.copy %c, %v : memref<?xf32> to memref<?xf32>
  memref.dealloc %c : memref<?xf32>
  %d = memref.alloc(%m) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%d : memref<?x100xf32>)
  memref.copy %d, %y : memref<?x100xf32> to memref<?x100xf32>
  memref.dealloc %d : memref<?x100xf32>
  return
}

// -----

// Branches exclude one another: one buffer in front of them.
// CHECK-LABEL: func.func @branches(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      linalg.fill {{.*}} outs([[A]] :
// CHECK:         } else {
// CHECK-NEXT:      linalg.fill {{.*}} outs([[A]] :
// CHECK-NOT:       memref.dealloc
// CHECK:         }
// CHECK-NEXT:    memref.dealloc [[A]]
func.func @branches(%c: i1, %z: f32, %out: memref<8xf32>) {
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
    memref.copy %a, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %a : memref<8xf32>
  } else {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %b : memref<8xf32>
  }
  return
}

// -----

// A buffer that died in front of a loop serves in each iteration, where nothing else is in use.
// CHECK-LABEL: func.func @loop(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK-NEXT:      linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:      memref.copy [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    return
func.func @loop(%lb: index, %ub: index, %step: index, %z: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  scf.for %i = %lb to %ub step %step {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %b : memref<8xf32>
  }
  return
}

// -----

// Within a loop, and behind it; one of the two loops allocates in front of itself then.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:      memref.copy [[A]]
// CHECK-NEXT:      linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:      memref.copy [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.fill {{.*}} outs([[A]] :
// CHECK-NEXT:    memref.copy [[A]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    return
func.func @in_a_loop(%lb: index, %ub: index, %step: index, %z: f32, %out: memref<8xf32>) {
  scf.for %i = %lb to %ub step %step {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %b : memref<8xf32>
    %c = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%c : memref<8xf32>)
    memref.copy %c, %out : memref<8xf32> to memref<8xf32>
    memref.dealloc %c : memref<8xf32>
  }
  %d = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%d : memref<8xf32>)
  memref.copy %d, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %d : memref<8xf32>
  return
}

// -----

// Rule 6: to keep the first until the last one comes would take 64 bytes while 128 are in use, where now 128 is the most. The other
// one is not freed, so that it does not serve.
// CHECK:       decision: allocation: allocated: raises-peak, 64 bytes
// CHECK-LABEL: func.func @peak(
// CHECK-COUNT-3: memref.alloc()
func.func @peak(%z: f32, %out: memref<16xf32>, %large: memref<32xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.copy %a, %out : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<32xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<32xf32>)
  memref.copy %b, %large : memref<32xf32> to memref<32xf32>
  %c = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<16xf32>)
  memref.copy %c, %out : memref<16xf32> to memref<16xf32>
  memref.dealloc %c : memref<16xf32>
  return
}

// -----

// Rules 4, 5 and what a live range asks for.
// CHECK:       decision: allocation: allocated: leaves-scope, 32 bytes
// CHECK:       decision: allocation: allocated: parallel-iterations, 32 bytes
// CHECK-LABEL: func.func @others(
// CHECK:         scf.parallel
// CHECK-NEXT:      memref.alloc
// CHECK:         memref.alloc
func.func @others(%lb: index, %ub: index, %step: index, %z: f32, %out: memref<8xf32>) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  scf.parallel (%i) = (%lb) to (%ub) step (%step) {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.dealloc %b : memref<8xf32>
  }
  %c = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<8xf32>)
  return %c : memref<8xf32>
}

// -----

// Rule 2: an index may be negative, so that %n + %k elements are not %k or more; as many and some more are.
// CHECK:       decision: allocation: allocated: nothing-to-share, 4*%n + 4*%k bytes
// CHECK:       decision: allocation: allocated: size-not-proven, 4*%k bytes
// CHECK:       decision: allocation: allocated: nothing-to-share, 4*%n + 32 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 4*%n bytes
// CHECK-LABEL: func.func @signed(
func.func @signed(%n: index, %k: index, %z: f32) {
  %s = arith.addi %n, %k : index
  %a = memref.alloc(%s) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%k) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}
func.func @bounded(%n: index, %z: f32) {
  %c8 = arith.constant 8 : index
  %s = arith.addi %n, %c8 : index
  %a = memref.alloc(%s) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// -----

// Rule 6: what the call allocates is not known, so nothing more is held meanwhile; nor while there is a buffer of which it is not
// known where it is freed.
// CHECK:       decision: allocation: allocated: raises-peak, 32 bytes
// CHECK:       decision: allocation: allocated: freed-elsewhere, 4000 bytes
// CHECK:       decision: allocation: allocated: freed-elsewhere, 4000 bytes
// CHECK:       decision: allocation: allocated: raises-peak, 32 bytes
// CHECK-LABEL: func.func @call(
func.func private @f()
func.func @call(%z: f32, %o: memref<8xf32>) {
  %l = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%l : memref<100xf32>)
  memref.dealloc %l : memref<100xf32>
  %a = memref.alloc() : memref<8xf32>
  %x = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<100xf32>)
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.dealloc %x : memref<100xf32>
  memref.dealloc %a : memref<8xf32>
  func.call @f() : () -> ()
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}
func.func @vague(%c: i1, %z: f32, %o: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  %r = memref.alloc() : memref<1000xf32>
  %s = memref.alloc() : memref<1000xf32>
  linalg.fill ins(%z : f32) outs(%r : memref<1000xf32>)
  linalg.fill ins(%z : f32) outs(%s : memref<1000xf32>)
  %p = arith.select %c, %r, %s : memref<1000xf32>
  %q = arith.select %c, %s, %r : memref<1000xf32>
  memref.dealloc %p : memref<1000xf32>
  memref.dealloc %q : memref<1000xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// The strictest alignment that any of them asks for, or that an op counts on.
// CHECK-LABEL: func.func @aligned(
// CHECK:         memref.alloc() {alignment = 32 : i64} : memref<64xi8>
func.func @aligned(%z: f32, %y: f64) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<8xf64>
  %v = memref.assume_alignment %b, 32 : memref<8xf64>
  linalg.fill ins(%y : f64) outs(%v : memref<8xf64>)
  memref.dealloc %b : memref<8xf64>
  return
}

// -----

// Rule 2: at most so many elements, by a minimum; a part of fixed size in what is larger for all sizes; no bound for a maximum.
// CHECK:       decision: allocation: allocated: nothing-to-share, 64 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 4*min(16, %n) bytes
// CHECK:       decision: allocation: allocated: nothing-to-share, 4*s0 + 32 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 32 bytes
// CHECK:       decision: allocation: allocated: nothing-to-share, 64 bytes
// CHECK:       decision: allocation: allocated: too-small, 4*max(16, %n) bytes
// CHECK-LABEL: func.func @least(
// CHECK:         [[M:%.*]] = memref.alloc() {alignment = 4 : i64} : memref<64xi8>
// CHECK:         memref.view [[M]][{{%.*}}][] : memref<64xi8> to memref<16xf32>
// CHECK:         memref.view [[M]][{{%.*}}][{{%.*}}] : memref<64xi8> to memref<?xf32>
func.func @least(%n: index, %z: f32) {
  %k = affine.min affine_map<(d0) -> (d0, 16)>(%n)
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc(%k) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}
func.func @fixed(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %z: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = arith.addi %n, %c8 : index
  %a = memref.alloc(%s) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}
func.func @most(%n: index, %z: f32) {
  %c16 = arith.constant 16 : index
  %k = arith.maxsi %n, %c16 : index
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc(%k) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// -----

// Rule 2: a declared range says how many elements there are at most, or at least.
// CHECK:       decision: allocation: allocated: nothing-to-share, 64 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 4*s0 bytes
// CHECK:       decision: allocation: allocated: nothing-to-share, 4*s0 bytes
// CHECK:       decision: allocation: shared: live-range-ended, 32 bytes
// CHECK:       decision: allocation: allocated: nothing-to-share, 64 bytes
// CHECK:       decision: allocation: allocated: size-not-proven, 4*s0 bytes
// CHECK-LABEL: func.func @at_most(
// CHECK:         [[M:%.*]] = memref.alloc() {alignment = 4 : i64} : memref<64xi8>
// CHECK:         memref.view [[M]][{{%.*}}][{{%.*}}] : memref<64xi8> to memref<?xf32>
// CHECK-LABEL: func.func @at_least(
// CHECK:         [[L:%.*]] = memref.alloc({{%.*}}) {alignment = 4 : i64} : memref<?xi8>
// CHECK:         memref.view [[L]][{{%.*}}][] : memref<?xi8> to memref<8xf32>
func.func @at_most(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %z: f32) attributes {hotdesk.bounds = {s0 = [1, 16]}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}
func.func @at_least(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %z: f32) attributes {hotdesk.bounds = {s0 = [8]}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}
func.func @not_enough(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %z: f32) attributes {hotdesk.bounds = {s0 = [1, 17]}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}
