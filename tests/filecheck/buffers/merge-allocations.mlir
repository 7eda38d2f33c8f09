// RUN: %hotdesk-opt %s --split-input-file --hotdesk-merge-allocations --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-merge-allocations{arena=argument alignment=16})' | FileCheck %s --check-prefix=ARGUMENT

// Two dead neighbours serve a larger one.
// CHECK:       decision: allocation: shared: placed-in-arena, 64 bytes
// CHECK-LABEL: func.func @neighbours(
// CHECK-NEXT:    [[M:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK:         [[O1:%.*]] = arith.constant [[N1:0|64]] : index
// CHECK-NEXT:    memref.view [[M]][[[O1]]][] : memref<128xi8> to memref<16xf32>
// CHECK:         memref.view [[M]][{{%.*}}][] : memref<128xi8> to memref<8xf64>
// CHECK:         [[O3:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    memref.view [[M]][[[O3]]][] : memref<128xi8> to memref<4x8xf32>
// CHECK:         memref.dealloc [[M]]
// CHECK-NEXT:    return
// ARGUMENT-LABEL: func.func @neighbours(
// ARGUMENT-SAME:    [[M:%[^ ]*]]: memref<128xi8> {hotdesk.arena = 16 : i64})
// ARGUMENT-NOT:     memref.alloc
// ARGUMENT:         memref.view [[M]]
// ARGUMENT-NOT:     memref.dealloc
// ARGUMENT:         return
func.func @neighbours(%z: f32, %y: f64, %out: memref<4x8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<8xf64>
  linalg.fill ins(%y : f64) outs(%b : memref<8xf64>)
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<8xf64>
  %c = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<4x8xf32>)
  memref.copy %c, %out : memref<4x8xf32> to memref<4x8xf32>
  memref.dealloc %c : memref<4x8xf32>
  return
}

// -----

// Branches have the same bytes, and so has the body of a loop.
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    [[M:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK-COUNT-3: memref.view [[M]]
// CHECK-NOT:     memref.view
// CHECK:         return
func.func @nested(%c: i1, %lb: index, %ub: index, %step: index, %z: f32, %out: memref<8xf32>) {
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
    memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  } else {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  }
  scf.for %i = %lb to %ub step %step {
    %b = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
    memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

// The callee's arena is a buffer of the caller; what calls itself allocates.
// ARGUMENT-LABEL: func.func @callee(
// ARGUMENT-SAME:    memref<32xi8> {hotdesk.arena = 16 : i64})
// ARGUMENT-LABEL: func.func @caller(
// ARGUMENT-SAME:    [[M:%[^ ]*]]: memref<64xi8> {hotdesk.arena = 16 : i64})
// ARGUMENT-NOT:     memref.alloc
// ARGUMENT:         [[A:%.*]] = memref.view [[M]]{{.*}} to memref<8xf32>
// ARGUMENT:         [[B:%.*]] = memref.view [[M]]{{.*}} to memref<32xi8>
// ARGUMENT-NEXT:    call @callee({{%.*}}, [[A]], [[B]])
// ARGUMENT-LABEL: func.func @again(
// ARGUMENT-SAME:    %{{[^ ]*}}: i1, %{{[^ ]*}}: f32, %{{[^ ]*}}: memref<8xf32>) {
// ARGUMENT-NEXT:    memref.alloc() {alignment = 16 : i64} : memref<32xi8>
func.func @callee(%z: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}
func.func @caller(%z: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  func.call @callee(%z, %a) : (f32, memref<8xf32>) -> ()
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}
func.func @again(%c: i1, %z: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  scf.if %c {
    func.call @again(%c, %z, %a) : (i1, f32, memref<8xf32>) -> ()
  }
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// What stays: sizes that are known later, what is returned, what a loop carries, what runs in parallel, another memory space or layout.
// CHECK:       decision: allocation: allocated: size-defined-below
// CHECK:       decision: allocation: allocated: leaves-scope, 32 bytes
// CHECK:       decision: allocation: allocated: kept-between-iterations, 32 bytes
// CHECK:       decision: allocation: allocated: parallel-iterations, 32 bytes
// CHECK:       decision: allocation: allocated: other-memory-space, 32 bytes
// CHECK:       decision: allocation: allocated: different-layout, 32 bytes
// CHECK-LABEL: func.func @stays(
// CHECK:         memref.view {{.*}} to memref<0xf32>
// CHECK-NOT:     memref.view
// CHECK:         return
func.func @stays(%s: memref<index>, %lb: index, %ub: index, %step: index, %z: f32, %x: memref<8xf32>, %out: memref<8xf32>) -> memref<8xf32> {
  %e0 = memref.alloc() : memref<0xf32>
  %n = memref.load %s[] : memref<index>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  %r = scf.for %i = %lb to %ub step %step iter_args(%p = %x) -> memref<8xf32> {
    %c = memref.alloc() : memref<8xf32>
    linalg.map { math.exp } ins(%p : memref<8xf32>) outs(%c : memref<8xf32>)
    scf.yield %c : memref<8xf32>
  }
  memref.copy %r, %out : memref<8xf32> to memref<8xf32>
  scf.parallel (%i) = (%lb) to (%ub) step (%step) {
    %d = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%d : memref<8xf32>)
  }
  %e = memref.alloc() : memref<8xf32, 1>
  linalg.fill ins(%z : f32) outs(%e : memref<8xf32, 1>)
  %f = memref.alloc() : memref<8xf32, strided<[2]>>
  linalg.fill ins(%z : f32) outs(%f : memref<8xf32, strided<[2]>>)
  return %b : memref<8xf32>
}

// -----

// Each time the block runs, it reads the buffer that it made before.
// CHECK:       decision: allocation: allocated: kept-between-iterations, 32 bytes (memref.alloc at {{.*}}, cf.cond_br at
// CHECK-LABEL: func.func @round(
// CHECK:         memref.alloc() : memref<8xf32>
func.func @round(%c: i1, %z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  cf.br ^bb1(%x : memref<8xf32>)
^bb1(%b: memref<8xf32>):
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  linalg.add ins(%b, %a : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  cf.cond_br %c, ^bb1(%a : memref<8xf32>), ^bb2
^bb2:
  return
}
