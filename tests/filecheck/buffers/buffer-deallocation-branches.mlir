// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// Each branch hands one allocation to the block argument; on the way where it is not wanted, the first one is freed at once.
// CHECK-LABEL: func.func @branch(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK-NEXT:    cf.cond_br
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK:         cf.br ^bb3([[B]] : memref<2xf32>)
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    memref.copy %{{.*}}, [[A]]
// CHECK-NEXT:    cf.br ^bb3([[A]] : memref<2xf32>)
// CHECK-NEXT:  ^bb3([[C:%.*]]: memref<2xf32>):
// CHECK-NEXT:    memref.copy [[C]]
// CHECK-NEXT:    memref.dealloc [[C]]
// CHECK-NEXT:    return
func.func @branch(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %0 = memref.alloc() : memref<2xf32>
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %1 = memref.alloc() : memref<2xf32>
  memref.copy %x, %1 : memref<2xf32> to memref<2xf32>
  cf.br ^bb3(%1 : memref<2xf32>)
^bb2:
  memref.copy %x, %0 : memref<2xf32> to memref<2xf32>
  cf.br ^bb3(%0 : memref<2xf32>)
^bb3(%2: memref<2xf32>):
  memref.copy %2, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// On one way it is an argument, which is not ours: only there, a flag says so.
// CHECK-LABEL: func.func @condBranchDynamicType(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<?xf32>,
// CHECK:       ^bb1:
// CHECK-NEXT:    [[FALSE:%.*]] = arith.constant false
// CHECK-NEXT:    cf.br ^bb3([[X]], [[FALSE]] : memref<?xf32>, i1)
// CHECK:       ^bb2([[N:%.*]]: index):
// CHECK-NEXT:    [[A:%.*]] = memref.alloc([[N]])
// CHECK:         [[TRUE:%.*]] = arith.constant true
// CHECK-NEXT:    cf.br ^bb3([[A]], [[TRUE]] : memref<?xf32>, i1)
// CHECK-NEXT:  ^bb3([[C:%.*]]: memref<?xf32>, [[OWNED:%.*]]: i1):
// CHECK-NEXT:    memref.copy [[C]]
// CHECK-NEXT:    scf.if [[OWNED]] {
// CHECK-NEXT:      memref.dealloc [[C]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @condBranchDynamicType(%p: i1, %x: memref<?xf32>, %out: memref<?xf32>, %n: index) {
  cf.cond_br %p, ^bb1, ^bb2(%n: index)
^bb1:
  cf.br ^bb3(%x : memref<?xf32>)
^bb2(%0: index):
  %1 = memref.alloc(%0) : memref<?xf32>
  memref.copy %x, %1 : memref<?xf32> to memref<?xf32>
  cf.br ^bb3(%1 : memref<?xf32>)
^bb3(%2: memref<?xf32>):
  memref.copy %2, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// The flag is made where ways join that differ, and goes no further.
// CHECK-LABEL: func.func @condBranchDynamicTypeNested(
// CHECK:       ^bb5([[A:%.*]]: memref<?xf32>):
// CHECK-NEXT:    [[TRUE:%.*]] = arith.constant true
// CHECK-NEXT:    cf.br ^bb6([[A]], [[TRUE]] : memref<?xf32>, i1)
// CHECK-NEXT:  ^bb6([[C:%.*]]: memref<?xf32>, [[OWNED:%.*]]: i1):
// CHECK-NEXT:    cf.br ^bb7([[C]] : memref<?xf32>)
// CHECK-NEXT:  ^bb7([[D:%.*]]: memref<?xf32>):
// CHECK-NEXT:    memref.copy [[D]]
// CHECK-NEXT:    scf.if [[OWNED]] {
// CHECK-NEXT:      memref.dealloc [[C]]
func.func @condBranchDynamicTypeNested(%p: i1, %x: memref<?xf32>, %out: memref<?xf32>, %n: index) {
  cf.cond_br %p, ^bb1, ^bb2(%n: index)
^bb1:
  cf.br ^bb6(%x : memref<?xf32>)
^bb2(%0: index):
  %1 = memref.alloc(%0) : memref<?xf32>
  memref.copy %x, %1 : memref<?xf32> to memref<?xf32>
  cf.cond_br %p, ^bb3, ^bb4
^bb3:
  cf.br ^bb5(%1 : memref<?xf32>)
^bb4:
  cf.br ^bb5(%1 : memref<?xf32>)
^bb5(%2: memref<?xf32>):
  cf.br ^bb6(%2 : memref<?xf32>)
^bb6(%3: memref<?xf32>):
  cf.br ^bb7(%3 : memref<?xf32>)
^bb7(%4: memref<?xf32>):
  memref.copy %4, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// A way of its own for what is freed on one way only.
// CHECK-LABEL: func.func @critical_edge(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         cf.cond_br %{{.*}}, ^bb[[USE:[0-9]+]], ^bb[[NEW:[0-9]+]]
// CHECK:       ^bb[[NEW]]:
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    cf.br ^bb[[END:[0-9]+]]
// CHECK:       ^bb[[USE]]:
// CHECK-NEXT:    memref.copy [[A]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    cf.br ^bb[[END]]
// CHECK:       ^bb[[END]]:
// CHECK-NEXT:    return
func.func @critical_edge(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %0 = memref.alloc() : memref<2xf32>
  memref.copy %x, %0 : memref<2xf32> to memref<2xf32>
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  memref.copy %0, %out : memref<2xf32> to memref<2xf32>
  cf.br ^bb2
^bb2:
  return
}

// -----

// A loop of blocks: the buffer of the last round is freed in the next one.
// CHECK-LABEL: func.func @loop_of_blocks(
// CHECK:         cf.br ^bb1(%{{.*}}, %{{.*}}, %false{{.*}} : index, memref<2xf32>, i1)
// CHECK:       ^bb2:
// CHECK-NEXT:    [[NEW:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[OLD:%.*]], [[NEW]]
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      memref.dealloc [[OLD]]
// CHECK:         cf.br ^bb1(%{{.*}}, [[NEW]], %true{{.*}} : index, memref<2xf32>, i1)
// CHECK:       ^bb3:
// CHECK-NEXT:    memref.copy [[OLD]]
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      memref.dealloc [[OLD]]
func.func @loop_of_blocks(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, memref<2xf32>)
^head(%i: index, %m: memref<2xf32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^exit
^body:
  %v = memref.alloc() : memref<2xf32>
  memref.copy %m, %v : memref<2xf32> to memref<2xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %v : index, memref<2xf32>)
^exit:
  memref.copy %m, %out : memref<2xf32> to memref<2xf32>
  return
}
