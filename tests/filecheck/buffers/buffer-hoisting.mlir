// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-hoisting --print-decisions 2>&1 | FileCheck %s

// One of two branches allocates, and both go on to a block that frees: the allocation goes to where both come from.
// CHECK:       decision: allocation: moved: dominates-all-uses, 8 bytes (memref.alloc at
// CHECK-LABEL: func.func @condBranch(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    cf.cond_br
// CHECK-NOT:     memref.alloc
// CHECK:         cf.br ^{{.*}}([[A]] : memref<2xf32>)
func.func @condBranch(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x : memref<2xf32>)
^bb2:
  %0 = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%0 : memref<2xf32>)
  cf.br ^bb3(%0 : memref<2xf32>)
^bb3(%1: memref<2xf32>):
  memref.copy %1, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// The size arrives with the block: rule 1.
// CHECK:       decision: allocation: allocated: size-defined-below, 4*%0 bytes (memref.alloc at {{.*}}, block argument)
// CHECK-LABEL: func.func @condBranchDynamicType(
// CHECK:         cf.cond_br
// CHECK:       ^{{.*}}([[N:%.*]]: index):
// CHECK-NEXT:    memref.alloc([[N]])
func.func @condBranchDynamicType(%c: i1, %x: memref<?xf32>, %out: memref<?xf32>, %n: index) {
  cf.cond_br %c, ^bb1, ^bb2(%n : index)
^bb1:
  cf.br ^bb3(%x : memref<?xf32>)
^bb2(%0: index):
  %1 = memref.alloc(%0) : memref<?xf32>
  linalg.map { math.exp } ins(%x : memref<?xf32>) outs(%1 : memref<?xf32>)
  cf.br ^bb3(%1 : memref<?xf32>)
^bb3(%2: memref<?xf32>):
  memref.copy %2, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// As far as its size allows, here to the block that has the size: where the outer branch decides, nobody knows it.
// CHECK:       decision: allocation: moved: dominates-all-uses
// CHECK-LABEL: func.func @condBranchDynamicTypeNested(
// CHECK:       ^{{.*}}([[N:%.*]]: index):
// CHECK-NEXT:    [[ZERO:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[M:%.*]] = arith.maxsi [[N]], [[ZERO]] : index
// CHECK-NEXT:    memref.alloc([[M]])
// CHECK-NEXT:    cf.cond_br
func.func @condBranchDynamicTypeNested(%c: i1, %x: memref<?xf32>, %out: memref<?xf32>, %n: index) {
  cf.cond_br %c, ^bb1, ^bb2(%n : index)
^bb1:
  cf.br ^bb6(%x : memref<?xf32>)
^bb2(%0: index):
  cf.cond_br %c, ^bb3, ^bb4
^bb3:
  %1 = memref.alloc(%0) : memref<?xf32>
  linalg.map { math.exp } ins(%x : memref<?xf32>) outs(%1 : memref<?xf32>)
  cf.br ^bb5(%1 : memref<?xf32>)
^bb4:
  cf.br ^bb5(%x : memref<?xf32>)
^bb5(%3: memref<?xf32>):
  cf.br ^bb6(%3 : memref<?xf32>)
^bb6(%4: memref<?xf32>):
  memref.copy %4, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// Out of a region that yields it. The size is asked of a memref, so it is not negative.
// CHECK-LABEL: func.func @yielded(
// CHECK:         [[D:%.*]] = memref.dim
// CHECK-NEXT:    [[A:%.*]] = memref.alloc([[D]]) : memref<?xf32>
// CHECK-NEXT:    scf.if
// CHECK:           scf.yield [[A]]
func.func @yielded(%c: i1, %x: memref<?xf32>, %out: memref<?xf32>) {
  %i = arith.constant 0 : index
  %n = memref.dim %x, %i : memref<?xf32>
  %r = scf.if %c -> memref<?xf32> {
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.map { math.exp } ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
    scf.yield %a : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  memref.copy %r, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// Used in its own block alone: it stays, and there is nothing to report.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @local(
// CHECK:         scf.if
// CHECK-NEXT:      memref.alloc
func.func @local(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  scf.if %c {
    %a = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%a : memref<2xf32>)
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  }
  return
}

// -----

// Rule 2: each iteration hands a buffer of its own to the next.
// CHECK:       decision: allocation: allocated: kept-between-iterations, 8 bytes (memref.alloc at {{.*}}, scf.for at
// CHECK-LABEL: func.func @carried(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func @carried(%lb: index, %ub: index, %step: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %r = scf.for %i = %lb to %ub step %step iter_args(%b = %x) -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%b : memref<2xf32>) outs(%a : memref<2xf32>)
    scf.yield %a : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// Rule 2 for a cycle of blocks.
// CHECK:       decision: allocation: allocated: kept-between-iterations, 8 bytes (memref.alloc at {{.*}}, cf.cond_br at
// CHECK-LABEL: func.func @cycle(
// CHECK:         cf.cond_br
// CHECK-NEXT:  ^bb1(
// CHECK-NEXT:    memref.alloc
func.func @cycle(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  cf.cond_br %c, ^bb1(%x : memref<2xf32>), ^bb2(%x : memref<2xf32>)
^bb1(%b: memref<2xf32>):
  %a = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%b : memref<2xf32>) outs(%a : memref<2xf32>)
  cf.cond_br %c, ^bb1(%a : memref<2xf32>), ^bb2(%a : memref<2xf32>)
^bb2(%r: memref<2xf32>):
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// What is freed on some paths stays: it would leak on the others.
// CHECK:       decision: allocation: allocated: freed-elsewhere, 8 bytes (memref.alloc at {{.*}}, memref.dealloc at
// CHECK-LABEL: func.func @freed(
// CHECK:         cf.cond_br
// CHECK:         memref.alloc
func.func @freed(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x : memref<2xf32>)
^bb2:
  %0 = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%0 : memref<2xf32>)
  memref.copy %0, %out : memref<2xf32> to memref<2xf32>
  memref.dealloc %0 : memref<2xf32>
  cf.br ^bb3(%0 : memref<2xf32>)
^bb3(%1: memref<2xf32>):
  return
}

// -----

// What is returned stays, freed or not: the caller frees it, and it would leak where the other branch is taken.
// CHECK:       decision: allocation: allocated: leaves-scope, 8 bytes (memref.alloc at {{.*}}, func.return at
// CHECK:       decision: allocation: allocated: leaves-scope, 8 bytes (memref.alloc at {{.*}}, func.return at
// CHECK-LABEL: func.func @returned(
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      memref.alloc
// CHECK:         } else {
// CHECK-NEXT:      memref.alloc
func.func @returned(%c: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %r = scf.if %c -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    %b = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%b : memref<2xf32>)
    scf.yield %b : memref<2xf32>
  }
  return %r : memref<2xf32>
}

// -----

// What an op may keep a pointer to stays: whoever has it may be to free it.
// CHECK:       decision: allocation: allocated: kept-by-unknown, 8 bytes (memref.alloc at {{.*}}, func.call at
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      memref.alloc
func.func private @keep(memref<2xf32>) -> memref<2xf32>
func.func @kept(%c: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %r = scf.if %c -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    %k = func.call @keep(%a) : (memref<2xf32>) -> memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}
