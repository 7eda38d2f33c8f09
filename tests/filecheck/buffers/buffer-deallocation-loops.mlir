// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// The buffer of an earlier iteration is freed where a new one takes its place.
// CHECK-LABEL: func.func @loop_nested_if(
// CHECK-SAME:    [[BUF:%[a-z0-9]+]]: memref<2xf32>, [[RES:%[a-z0-9]+]]: memref<2xf32>)
// CHECK-NEXT:    [[FALSE:%.*]] = arith.constant false
// CHECK-NEXT:    [[R:%.*]]:2 = scf.for {{.*}} iter_args([[ITER:%.*]] = [[BUF]], [[OWNED:%.*]] = [[FALSE]]) -> (memref<2xf32>, i1) {
// CHECK:           [[IF:%.*]]:2 = scf.if {{.*}} -> (memref<2xf32>, i1) {
// CHECK-NEXT:        scf.if [[OWNED]] {
// CHECK-NEXT:          memref.dealloc [[ITER]]
// CHECK-NEXT:        }
// CHECK-NEXT:        [[NEW:%.*]] = memref.alloc()
// CHECK:             [[TRUE:%.*]] = arith.constant true
// CHECK-NEXT:        scf.yield [[NEW]], [[TRUE]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield [[ITER]], [[OWNED]]
// CHECK:           scf.yield [[IF]]#0, [[IF]]#1
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy [[R]]#0, [[RES]]
// CHECK-NEXT:    scf.if [[R]]#1 {
// CHECK-NEXT:      memref.dealloc [[R]]#0
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @loop_nested_if(%lb: index, %ub: index, %step: index, %buf: memref<2xf32>, %res: memref<2xf32>) {
  %0 = scf.for %i = %lb to %ub step %step iter_args(%iterBuf = %buf) -> memref<2xf32> {
    %1 = arith.cmpi eq, %i, %ub : index
    %2 = scf.if %1 -> (memref<2xf32>) {
      %3 = memref.alloc() : memref<2xf32>
      memref.copy %buf, %3 : memref<2xf32> to memref<2xf32>
      scf.yield %3 : memref<2xf32>
    } else {
      scf.yield %iterBuf : memref<2xf32>
    }
    scf.yield %2 : memref<2xf32>
  }
  memref.copy %0, %res : memref<2xf32> to memref<2xf32>
  return
}

// -----

// The loop starts from an allocation of ours: nothing is asked at run time.
// CHECK-LABEL: func.func @loop_from_an_allocation(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[M:%.*]] = [[A]]) -> (memref<2xf32>) {
// CHECK-NEXT:      [[V:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[M]], [[V]]
// CHECK-NEXT:      memref.dealloc [[M]]
// CHECK-NEXT:      scf.yield [[V]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy [[R]]
// CHECK-NEXT:    memref.dealloc [[R]]
// CHECK-NEXT:    return
func.func @loop_from_an_allocation(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> memref<2xf32> {
    %v = memref.alloc() : memref<2xf32>
    memref.copy %m, %v : memref<2xf32> to memref<2xf32>
    scf.yield %v : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// Two buffers change places: both stay whose they were, and are freed behind the loop.
// CHECK-LABEL: func.func @swap(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK-NOT:     i1
// CHECK:         memref.copy [[R:%.*]]#0
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.dealloc [[B]]
// CHECK-NEXT:    return
func.func @swap(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (memref<2xf32>, memref<2xf32>) {
    scf.yield %v, %u : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// One of the two is returned: the loop takes them over, so that it is known which one is left.
// CHECK-LABEL: func.func @swap_and_return(
// CHECK-NOT:     i1
// CHECK-NOT:     memref.extract
// CHECK:         [[R:%.*]]:2 = scf.for
// CHECK:         }
// CHECK-NEXT:    memref.dealloc [[R]]#1
// CHECK-NEXT:    return [[R]]#0
func.func @swap_and_return(%n: index, %x: memref<2xf32>) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (memref<2xf32>, memref<2xf32>) {
    scf.yield %v, %u : memref<2xf32>, memref<2xf32>
  }
  return %r#0 : memref<2xf32>
}

// -----

// In a loop with a condition, which swaps them, and a body, which swaps them back: %r#1 is always the second one.
// CHECK-LABEL: func.func @while_swap(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK:         scf.while
// CHECK-NOT:     i1
// CHECK:         memref.copy [[R:%.*]]#2
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.copy [[R]]#1
// CHECK-NEXT:    memref.dealloc [[B]]
// CHECK-NEXT:    return
func.func @while_swap(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r:3 = scf.while (%i = %c0, %u = %a, %v = %b) : (index, memref<2xf32>, memref<2xf32>) -> (index, memref<2xf32>, memref<2xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %v, %u : index, memref<2xf32>, memref<2xf32>
  } do {
  ^bb0(%i: index, %u: memref<2xf32>, %v: memref<2xf32>):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %v, %u : index, memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#2, %out : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// The loop certainly runs: what it ends with is new, and freed unasked, though in its first iteration it has an argument.
// CHECK-LABEL: func.func @loop_that_runs(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: memref<2xf32>
// CHECK:         [[R:%.*]]:2 = scf.for {{.*}} iter_args([[M:%.*]] = [[X]], [[OWNED:%.*]] = %{{.*}})
// CHECK:           scf.if [[OWNED]] {
// CHECK-NEXT:        memref.dealloc [[M]]
// CHECK:         memref.copy [[R]]#0
// CHECK-NEXT:    memref.dealloc [[R]]#0
// CHECK-NEXT:    return
func.func @loop_that_runs(%x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %x) -> memref<2xf32> {
    %v = memref.alloc() : memref<2xf32>
    memref.copy %m, %v : memref<2xf32> to memref<2xf32>
    scf.yield %v : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// What it returns is its own for certain. From 3 to 0 a loop does not run: then the argument is copied.
// CHECK-LABEL: func.func @returned_by_a_loop_that_runs(
// CHECK:         [[R:%.*]]:2 = scf.for
// CHECK:         return [[R]]#0
// CHECK-LABEL: func.func @returned_by_a_loop_that_does_not_run(
// CHECK:         [[R:%.*]]:2 = scf.for
// CHECK:         [[C:%.*]] = scf.if [[R]]#1
// CHECK:         return [[C]]
func.func @returned_by_a_loop_that_runs(%x: memref<2xf32>) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %x) -> memref<2xf32> {
    %v = memref.alloc() : memref<2xf32>
    memref.copy %m, %v : memref<2xf32> to memref<2xf32>
    scf.yield %v : memref<2xf32>
  }
  return %r : memref<2xf32>
}
func.func @returned_by_a_loop_that_does_not_run(%x: memref<2xf32>) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c3 to %c0 step %c1 iter_args(%m = %x) -> memref<2xf32> {
    %v = memref.alloc() : memref<2xf32>
    memref.copy %m, %v : memref<2xf32> to memref<2xf32>
    scf.yield %v : memref<2xf32>
  }
  return %r : memref<2xf32>
}
