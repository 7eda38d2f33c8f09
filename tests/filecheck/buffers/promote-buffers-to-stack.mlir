// RUN: %hotdesk-opt %s --split-input-file --hotdesk-promote-buffers-to-stack --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-promote-buffers-to-stack{max-alloc-size-in-bytes=2048 max-rank-of-allocated-memref=2})' --print-decisions 2>&1 | FileCheck %s --check-prefix=MORE

// Up to 1 KB, with the alignment it had; deallocations go.
// CHECK:       decision: allocation: on the stack: small-and-local, 1024 bytes (memref.alloc at
// CHECK:       decision: allocation: allocated: too-large, 1028 bytes (memref.alloc at
// CHECK-LABEL: func.func @limit(
// CHECK-NEXT:    memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// CHECK:         [[B:%.*]] = memref.alloc() : memref<257xf32>
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.dealloc [[B]]
// MORE-LABEL:  func.func @limit(
// MORE:          memref.alloca() {{.*}} : memref<256xf32>
// MORE:          memref.alloca() : memref<257xf32>
// MORE-NOT:      memref.dealloc
func.func @limit(%z: f32) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  memref.dealloc %a : memref<256xf32>
  %b = memref.alloc() : memref<257xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<257xf32>)
  memref.dealloc %b : memref<257xf32>
  return
}

// -----

// Bytes that are shown as larger elements are aligned for those, through any alias.
// CHECK-LABEL: func.func @shown(
// CHECK:         memref.alloca() {alignment = 8 : i64} : memref<32xi8>
// CHECK:         memref.alloca() {alignment = 32 : i64} : memref<8xf32>
// MORE-LABEL:  func.func @shown(
func.func @shown(%z: f64, %i: index, %j: index) -> (f64, f32) {
  %a = memref.alloc() : memref<32xi8>
  %b = memref.cast %a : memref<32xi8> to memref<?xi8>
  %v = memref.view %b[%i][] : memref<?xi8> to memref<2xf64>
  linalg.fill ins(%z : f64) outs(%v : memref<2xf64>)
  %x = memref.load %v[%i] : memref<2xf64>
  memref.dealloc %a : memref<32xi8>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.cast %c : memref<8xf32> to memref<?xf32>
  %w = arith.truncf %z : f64 to f32
  memref.store %w, %d[%j] {alignment = 32 : i64} : memref<?xf32>
  %y = memref.load %d[%j] : memref<?xf32>
  memref.dealloc %c : memref<8xf32>
  return %x, %y : f64, f32
}

// -----

// Rule 1: dynamic sizes, unless each is a rank.
// CHECK:       decision: allocation: allocated: size-not-static
// CHECK:       decision: allocation: on the stack
// CHECK:       decision: allocation: allocated: size-not-static
// CHECK-LABEL: func.func @dynamic(
// CHECK:         memref.alloc(
// CHECK:         memref.alloca({{.*}}) : memref<?xindex>
// CHECK:         memref.alloc({{.*}}) : memref<?x?xindex>
// MORE-LABEL:  func.func @dynamic(
// MORE:          memref.alloca({{.*}}) : memref<?x?xindex>
func.func @dynamic(%n: index, %x: memref<*xf32>, %i: index) {
  %r = memref.rank %x : memref<*xf32>
  %a = memref.alloc(%n) : memref<?xindex>
  linalg.fill ins(%n : index) outs(%a : memref<?xindex>)
  %b = memref.alloc(%r) : memref<?xindex>
  linalg.fill ins(%n : index) outs(%b : memref<?xindex>)
  %c = memref.alloc(%r, %r) : memref<?x?xindex>
  linalg.fill ins(%n : index) outs(%c : memref<?x?xindex>)
  return
}

// -----

// Rule 2: what is returned, also by a view, or yielded by the loop that gives the stack back.
// CHECK:       decision: allocation: allocated: leaves-scope, 8 bytes (memref.alloc at {{.*}}, func.return at
// CHECK:       decision: allocation: allocated: leaves-scope, 8 bytes (memref.alloc at {{.*}}, func.return at
// CHECK:       decision: allocation: allocated: leaves-scope, 8 bytes (memref.alloc at {{.*}}, scf.yield at
// CHECK-LABEL: func.func @leaves(
// CHECK-NOT:     memref.alloca
func.func @leaves(%lb: index, %ub: index, %step: index, %z: f32) -> (memref<?xf32>, memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
  %v = memref.cast %a : memref<2xf32> to memref<?xf32>
  %b = memref.alloc() : memref<2xf32>
  %r = scf.for %i = %lb to %ub step %step iter_args(%c = %b) -> memref<2xf32> {
    %d = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%c : memref<2xf32>) outs(%d : memref<2xf32>)
    scf.yield %d : memref<2xf32>
  }
  return %v, %r : memref<?xf32>, memref<2xf32>
}

// -----

// A loop gives its stack back with each iteration, a branch with its function.
// CHECK-LABEL: func.func @scopes(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloca
// CHECK:         scf.if
// CHECK-NEXT:      [[A:%.*]] = memref.alloca
// CHECK:           scf.yield [[A]]
func.func @scopes(%c: i1, %lb: index, %ub: index, %step: index, %z: f32, %x: memref<2xf32>, %out: memref<2xf32>) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
  }
  %r = scf.if %c -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// Rule 3: loops that give nothing back.
// CHECK:       decision: allocation: allocated: made-repeatedly, 8 bytes (memref.alloc at {{.*}}, scf.while at
// CHECK:       decision: allocation: allocated: made-repeatedly, 8 bytes (memref.alloc at {{.*}}, cf.cond_br at
// CHECK-LABEL: func.func @repeated(
// CHECK-NOT:     memref.alloca
func.func @repeated(%c: i1, %z: f32) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
    scf.yield
  }
  cf.br ^bb1
^bb1:
  %b = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<2xf32>)
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  return
}

// -----

// Rule 2: a call may return what it is given; one that returns numbers keeps nothing.
// CHECK:       decision: allocation: allocated: kept-by-unknown, 8 bytes (memref.alloc at {{.*}}, func.call at
// CHECK:       decision: allocation: on the stack
// CHECK-LABEL: func.func @called(
// CHECK:         memref.alloc()
// CHECK:         memref.alloca()
func.func private @same(memref<2xf32>) -> memref<2xf32>
func.func private @sum(memref<2xf32>) -> f32
func.func @called(%z: f32) -> (memref<2xf32>, f32) {
  %a = memref.alloc() : memref<2xf32>
  %r = func.call @same(%a) : (memref<2xf32>) -> memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<2xf32>)
  %s = func.call @sum(%b) : (memref<2xf32>) -> f32
  return %r, %s : memref<2xf32>, f32
}

// -----

// Rule 4: what is freed may be one of two buffers.
// CHECK:       decision: allocation: allocated: freed-elsewhere, 8 bytes (memref.alloc at {{.*}}, memref.dealloc at
// CHECK:       decision: allocation: allocated: freed-elsewhere, 8 bytes (memref.alloc at {{.*}}, memref.dealloc at
// CHECK-LABEL: func.func @freed(
// CHECK-NOT:     memref.alloca
func.func @freed(%c: i1, %z: f32) {
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  %s = arith.select %c, %a, %b : memref<2xf32>
  %t = arith.select %c, %b, %a : memref<2xf32>
  memref.dealloc %s : memref<2xf32>
  memref.dealloc %t : memref<2xf32>
  return
}

// -----

// An op counts on an alignment that the heap gives and the stack does not: it is asked for.
// CHECK-LABEL: func.func @aligned(
// CHECK-NEXT:    memref.alloca() {alignment = 16 : i64} : memref<8xf32>
func.func @aligned(%z: f32) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.assume_alignment %a, 16 : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}
