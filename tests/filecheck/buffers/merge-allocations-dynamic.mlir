// RUN: %hotdesk-opt %s --split-input-file --hotdesk-merge-allocations --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-merge-allocations{arena=argument alignment=16})' | FileCheck %s --check-prefix=ARGUMENT

// Two that are live together lie side by side; a third one, of one size with them, has the place of the first. Static sizes come
// first.
// CHECK:       decision: allocation: shared: placed-in-arena, 4*s0 bytes
// CHECK-LABEL: func.func @side_by_side(
// CHECK:         [[N:%.*]] = memref.dim
// CHECK:         [[BYTES:%.*]] = arith.muli {{%.*}}, [[N]]
// CHECK:         [[UP:%.*]] = arith.addi [[BYTES]], %c63
// CHECK:         [[SIZE:%.*]] = arith.andi [[UP]], %c-64
// CHECK:         [[TWICE:%.*]] = arith.addi [[SIZE]], [[SIZE]]
// CHECK-NEXT:    [[TOTAL:%.*]] = arith.addi [[TWICE]], %c64
// CHECK-NEXT:    [[UPPER:%.*]] = arith.addi [[SIZE]], %c64
// CHECK-NEXT:    [[M:%.*]] = memref.alloc([[TOTAL]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         [[C0:%.*]] = arith.constant 0
// CHECK-NEXT:    memref.view [[M]][[[C0]]][] : memref<?xi8> to memref<16xf32>
// CHECK:         [[A:%.*]] = memref.view [[M]][[[UPPER]]][[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK:         [[C64:%.*]] = arith.constant 64
// CHECK-NEXT:    [[B:%.*]] = memref.view [[M]][[[C64]]][[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.copy [[A]], [[B]]
// CHECK:         memref.view [[M]][[[UPPER]]][[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.dealloc [[M]]
// CHECK-NOT:     memref.dealloc
// ARGUMENT-LABEL: func.func @side_by_side_arena_bytes(
// ARGUMENT-SAME:    [[X:%[^ ]*]]: memref<?xf32>, %{{[^ ]*}}: f32) -> index
// ARGUMENT:         memref.dim [[X]]
// ARGUMENT:         return {{%.*}} : index
// ARGUMENT-LABEL: func.func @side_by_side(
// ARGUMENT-SAME:    [[M:%[^ ]*]]: memref<?xi8> {hotdesk.arena = 16 : i64, hotdesk.arena_bytes = @side_by_side_arena_bytes})
// ARGUMENT-NOT:     memref.alloc
// ARGUMENT:         return
func.func @side_by_side(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %z: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.alloc() : memref<16xf32>
  linalg.fill ins(%z : f32) outs(%s : memref<16xf32>)
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  memref.copy %b, %d : memref<?xf32> to memref<?xf32>
  memref.copy %d, %x : memref<?xf32> to memref<?xf32>
  linalg.fill ins(%z : f32) outs(%s : memref<16xf32>)
  memref.dealloc %s : memref<16xf32>
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %d : memref<?xf32>
  return
}

// -----

// Branches have one place, as large as the larger of them, which no size tells beforehand; one that is known to be larger needs no
// comparison. A size that may be negative is 0 then, since the branch may not be taken.
// CHECK-LABEL: func.func @branches(
// CHECK:         [[POS:%.*]] = arith.maxsi %{{.*}}, %c0
// CHECK:         [[LARGE:%.*]] = arith.maxsi
// CHECK-NEXT:    [[M:%.*]] = memref.alloc([[LARGE]])
// CHECK-COUNT-2: memref.view [[M]][%c0
// CHECK-LABEL: func.func @larger(
// CHECK-NOT:     arith.maxsi
// CHECK:         memref.alloc({{.*}}) {alignment = 64 : i64} : memref<?xi8>
func.func @branches(%c: i1, %n: index, %x: memref<?xf32>, %z: f32) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  scf.if %c {
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  } else {
    %b = memref.alloc(%m) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
  }
  return
}
func.func @larger(%x: memref<?xf32>, %z: f32) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%m) : memref<?x3xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?x3xf32>)
  memref.dealloc %b : memref<?x3xf32>
  return
}

// -----

// In a loop, a size that does not change is computed in front of it; one that depends on data, or could not be computed for some
// arguments, stays.
// CHECK:       decision: allocation: shared: placed-in-arena, 4*%n + 4 bytes
// CHECK:       decision: allocation: allocated: size-defined-below, 4*%t
// CHECK:       decision: allocation: allocated: size-defined-below,
// CHECK-LABEL: func.func @loop(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    scf.for
// CHECK:           memref.view [[M]]
// CHECK:           memref.alloc({{%.*}}) : memref<?xf32>
// CHECK:           memref.alloc({{%.*}}) : memref<?xf32>
func.func @loop(%lb: index, %ub: index, %step: index, %n: index, %k: index, %sizes: memref<?xindex>, %z: f32) {
  %c1 = arith.constant 1 : index
  scf.for %i = %lb to %ub step %step {
    %s = arith.addi %n, %c1 : index
    %a = memref.alloc(%s) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
    %t = memref.load %sizes[%i] : memref<?xindex>
    %b = memref.alloc(%t) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    %q = arith.divui %n, %k : index
    %d = memref.alloc(%q) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%d : memref<?xf32>)
    memref.dealloc %d : memref<?xf32>
  }
  return
}

// -----

// A size that was read from memory is known where the arena is made; as an argument, the arena is made by who calls, and cannot be.
// CHECK-LABEL: func.func @loaded(
// CHECK:         [[N:%.*]] = memref.load
// CHECK:         memref.view {{%.*}}[{{%.*}}][[[N]]]
// ARGUMENT-LABEL: func.func @loaded(
// ARGUMENT-NOT:     hotdesk.arena
// ARGUMENT:         memref.alloc({{%.*}}) : memref<?xf32>
func.func @loaded(%sizes: memref<?xindex>, %z: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.load %sizes[%c0] : memref<?xindex>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

// The caller computes the bytes of a private callee's arena from what it calls it with, and has them in its own.
// ARGUMENT-LABEL: func.func private @callee(
// ARGUMENT-SAME:    memref<?xi8> {hotdesk.arena = 16 : i64})
// ARGUMENT-LABEL: func.func @caller_arena_bytes(
// ARGUMENT:         return
// ARGUMENT-LABEL: func.func @caller(
// ARGUMENT-SAME:    [[M:%[^ ]*]]: memref<?xi8> {hotdesk.arena = 16 : i64, hotdesk.arena_bytes = @caller_arena_bytes})
// ARGUMENT-NOT:     memref.alloc
// ARGUMENT:         [[A:%.*]] = memref.view [[M]]{{.*}} to memref<?xf32>
// ARGUMENT:         [[B:%.*]] = memref.view [[M]]{{.*}} to memref<?xi8>
// ARGUMENT:         call @callee([[A]], {{%.*}}, [[B]])
func.func private @callee(%x: memref<?xf32>, %z: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  memref.copy %a, %x : memref<?xf32> to memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
func.func @caller(%n: index, %z: f32) {
  %a = memref.alloc(%n) : memref<?xf32>
  func.call @callee(%a, %z) : (memref<?xf32>, f32) -> ()
  memref.dealloc %a : memref<?xf32>
  return
}
