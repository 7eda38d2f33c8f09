// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// A choice of two allocations becomes a branch, so that each way frees the other one.
// CHECK-LABEL: func.func @choice(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1,
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK-NOT:     memref.extract
// CHECK:         [[R:%.*]] = scf.if [[P]] -> (memref<2xf32>) {
// CHECK-NEXT:      memref.dealloc [[B]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:      scf.yield [[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]
func.func @choice(%p: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r = arith.select %p, %a, %b : memref<2xf32>
  return %r : memref<2xf32>
}

// -----

// Nobody takes over what is chosen: it stays a choice.
// CHECK-LABEL: func.func @choice_that_is_read(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK:         [[R:%.*]] = arith.select
// CHECK-NEXT:    memref.copy [[R]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.dealloc [[B]]
// CHECK-NEXT:    return
func.func @choice_that_is_read(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r = arith.select %p, %a, %b : memref<2xf32>
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// An argument is copied on the way on which it is returned, and nothing is asked.
// CHECK-LABEL: func.func @argument_on_one_way(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>)
// CHECK-NEXT:    [[R:%.*]] = scf.if [[P]] -> (memref<2xf32>) {
// CHECK-NEXT:      [[A:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[X]], [[A]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[C:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[X]], [[C]]
// CHECK-NEXT:      scf.yield [[C]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]
func.func @argument_on_one_way(%p: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %r = scf.if %p -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  return %r : memref<2xf32>
}

// -----

// The argument is written in between, on each way now: so each way returns what it means.
// CHECK-LABEL: func.func @written_in_between(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[R:%.*]] = scf.if [[P]] -> (memref<2xf32>) {
// CHECK:           memref.copy [[X]], [[A:%[a-z0-9_]+]] :
// CHECK-NEXT:      linalg.fill {{.*}} outs([[X]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      linalg.fill {{.*}} outs([[X]]
// CHECK-NEXT:      [[C:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[X]], [[C]]
// CHECK-NEXT:      scf.yield [[C]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]
func.func @written_in_between(%p: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %zero = arith.constant 0.0 : f32
  %r = scf.if %p -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<2xf32>)
  return %r : memref<2xf32>
}

// -----

// What comes out of the branch is read in between, and new memory is written that is returned too: the argument is copied on its
// way, and nothing goes into the ways.
// CHECK-LABEL: func.func @read_in_between(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[R:%.*]] = scf.if [[P]] -> (memref<2xf32>) {
// CHECK:         } else {
// CHECK-NEXT:      [[C:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[X]], [[C]]
// CHECK-NEXT:      scf.yield [[C]]
// CHECK-NEXT:    }
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp ins([[R]] {{.*}} outs([[B]]
// CHECK-NEXT:    return [[B]], [[R]]
func.func @read_in_between(%p: i1, %x: memref<2xf32>) -> (memref<2xf32>, memref<2xf32>) {
  %r = scf.if %p -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  %b = memref.alloc() : memref<2xf32>
  linalg.exp ins(%r : memref<2xf32>) outs(%b : memref<2xf32>)
  return %b, %r : memref<2xf32>, memref<2xf32>
}

// -----

// A buffer is used for the last time in between, and the copy is not to be held beside it: each way does that, then copies.
// CHECK-LABEL: func.func @last_used_in_between(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>, [[O:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[D:%.*]] = memref.alloc()
// CHECK:         [[R:%.*]] = scf.if
// CHECK:         } else {
// CHECK-NEXT:      memref.copy [[D]], [[O]]
// CHECK-NEXT:      memref.dealloc [[D]]
// CHECK-NEXT:      [[C:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[X]], [[C]]
// CHECK-NEXT:      scf.yield [[C]]
func.func @last_used_in_between(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) -> memref<2xf32> {
  %d = memref.alloc() : memref<2xf32>
  linalg.exp ins(%x : memref<2xf32>) outs(%d : memref<2xf32>)
  %r = scf.if %p -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  memref.copy %d, %out : memref<2xf32> to memref<2xf32>
  return %r : memref<2xf32>
}

// -----

// A loop in between stays where it is: the result is copied behind it, unless a flag says that it is not the argument.
// CHECK-LABEL: func.func @written_in_a_loop_in_between(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[N:%[a-z0-9]+]]: index, [[X:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[R:%.*]]:2 = scf.if [[P]] -> (memref<2xf32>, i1) {
// CHECK:         } else {
// CHECK-NEXT:      [[FALSE:%.*]] = arith.constant false
// CHECK-NEXT:      scf.yield [[X]], [[FALSE]]
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for
// CHECK:         scf.if [[R]]#1
// CHECK-NEXT:      scf.yield [[R]]#0
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[C:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[R]]#0, [[C]]
func.func @written_in_a_loop_in_between(%p: i1, %n: index, %x: memref<2xf32>) -> memref<2xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.if %p -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%x : memref<2xf32>)
  }
  return %r : memref<2xf32>
}

// -----

// What nobody uses is not passed on: the loop passes on nothing, and the way on which nothing is made needs no flag.
// CHECK-LABEL: func.func @unused(
// CHECK:         scf.for
// CHECK-NOT:     iter_args
// CHECK-NEXT:      [[A:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy {{.*}}, [[A]]
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @unused(%n: index, %x: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x) -> (memref<2xf32>, memref<2xf32>) {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.yield %a, %u : memref<2xf32>, memref<2xf32>
  }
  %view = memref.subview %r#1[0] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1]>>
  return
}

// -----

// An allocation that lives in any case and an argument: which of them it is nobody asks, it is copied.
// CHECK-LABEL: func.func @one_of_two_that_live(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK-NOT:     memref.extract
// CHECK:         [[C:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy {{.*}}, [[C]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    return [[C]]
func.func @one_of_two_that_live(%n: index, %p: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %r = scf.if %p -> memref<2xf32> {
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %x : memref<2xf32> to memref<2xf32>
  }
  return %r : memref<2xf32>
}

// -----

// The last use is in front of an allocation in a branch: freed there, and in an `else` where the branch is not taken.
// CHECK-LABEL: func.func @in_front_of_an_allocation(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         scf.if
// CHECK-NEXT:      memref.copy [[A]]
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:      [[B:%.*]] = memref.alloc()
// CHECK:           memref.dealloc [[B]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @in_front_of_an_allocation(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
    %b = memref.alloc() : memref<2xf32>
    memref.copy %x, %b : memref<2xf32> to memref<2xf32>
    memref.copy %b, %out : memref<2xf32> to memref<2xf32>
  }
  return
}

// -----

// It is used behind the branch, which gets no `else`.
// CHECK-LABEL: func.func @used_behind(
// CHECK:         scf.if
// CHECK:           memref.dealloc
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    memref.dealloc
func.func @used_behind(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  scf.if %p {
    %b = memref.alloc() : memref<2xf32>
    memref.copy %a, %b : memref<2xf32> to memref<2xf32>
    memref.copy %b, %out : memref<2xf32> to memref<2xf32>
  }
  memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// In `case 0` it becomes both results, by default only the first one, which is only read: the choice is behind the switch.
// CHECK-LABEL: func.func @shown_on_one_way(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[S:%.*]]:2 = scf.index_switch
// CHECK:           scf.yield [[A]], [[A]]
// CHECK:           scf.yield [[A]], %{{.*}}
// CHECK-NOT:     memref.dealloc
// CHECK:         [[P:%.*]] = memref.extract_aligned_pointer_as_index [[S]]#1
// CHECK:         [[Q:%.*]] = memref.extract_aligned_pointer_as_index [[A]]
// CHECK:         [[MINE:%.*]] = arith.cmpi eq, [[P]], [[Q]]
// CHECK:         [[OTHER:%.*]] = arith.cmpi ne
// CHECK-NEXT:    scf.if [[OTHER]] {
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.yield [[S]]#1, [[MINE]]
func.func @shown_on_one_way(%k: index, %p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %r = scf.if %p -> memref<2xf32> {
    scf.yield %x : memref<2xf32>
  } else {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    %s:2 = scf.index_switch %k -> memref<2xf32>, memref<2xf32>
    case 0 {
      scf.yield %a, %a : memref<2xf32>, memref<2xf32>
    }
    default {
      scf.yield %a, %x : memref<2xf32>, memref<2xf32>
    }
    memref.copy %s#0, %out : memref<2xf32> to memref<2xf32>
    scf.yield %s#1 : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// The loop takes over one of two in a block that ends with a branch: what it does not take is freed on the way, not on the edge.
// CHECK-LABEL: func.func @loop_before_a_branch(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK:         [[S:%.*]] = scf.if
// CHECK-NEXT:      memref.dealloc [[B]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:      scf.yield [[B]]
// CHECK-NEXT:    }
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[U:%.*]] = [[S]])
// CHECK-NEXT:      [[W:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[U]], [[W]]
// CHECK-NEXT:      memref.dealloc [[U]]
// CHECK-NEXT:      scf.yield [[W]]
// CHECK-NEXT:    }
// CHECK-NEXT:    cf.cond_br
func.func @loop_before_a_branch(%n: index, %p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %s = arith.select %p, %a, %b : memref<2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %s) -> (memref<2xf32>) {
    %w = memref.alloc() : memref<2xf32>
    memref.copy %u, %w : memref<2xf32> to memref<2xf32>
    scf.yield %w : memref<2xf32>
  }
  cf.cond_br %p, ^use(%r : memref<2xf32>), ^end
^use(%m: memref<2xf32>):
  memref.copy %m, %out : memref<2xf32> to memref<2xf32>
  cf.br ^end
^end:
  return
}

// -----

// A choice is put off until both have been used, also in a branch: then each way frees the other one.
// CHECK-LABEL: func.func @choice_put_off(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>, [[OUT:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[X]], [[B]]
// CHECK-NEXT:    scf.if [[P]] {
// CHECK-NEXT:      memref.copy [[A]], [[OUT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    [[R:%.*]] = scf.if [[P]] -> (memref<2xf32>) {
// CHECK-NEXT:      memref.dealloc [[B]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:      scf.yield [[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy [[X]], [[OUT]]
// CHECK-NEXT:    return [[R]]
func.func @choice_put_off(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) -> memref<2xf32> {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %r = arith.select %p, %a, %b : memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  }
  memref.copy %x, %out : memref<2xf32> to memref<2xf32>
  return %r : memref<2xf32>
}

// -----

// The first result is new for certain; a flag tells whether the second one is the same memory, and it is copied only then.
// CHECK-LABEL: func.func @one_result_may_be_the_other(
// CHECK:         [[R:%.*]]:3 = scf.for
// CHECK-NOT:     memref.extract_aligned_pointer_as_index
// CHECK:         [[C:%.*]] = scf.if [[R]]#2 -> (memref<2xf32>) {
// CHECK-NEXT:      scf.yield [[R]]#1
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[N:%.*]] = memref.alloc()
// CHECK-NEXT:      memref.copy [[R]]#1, [[N]]
// CHECK-NEXT:      scf.yield [[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#0, [[C]]
func.func @one_result_may_be_the_other(%n: index, %p: i1, %x: memref<2xf32>) -> (memref<2xf32>, memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %a) -> (memref<2xf32>, memref<2xf32>) {
    %w = memref.alloc() : memref<2xf32>
    memref.copy %v, %w : memref<2xf32> to memref<2xf32>
    %k = scf.if %p -> memref<2xf32> {
      scf.yield %w : memref<2xf32>
    } else {
      scf.yield %u : memref<2xf32>
    }
    scf.yield %w, %k : memref<2xf32>, memref<2xf32>
  }
  return %r#0, %r#1 : memref<2xf32>, memref<2xf32>
}

// What a loop takes over is freed inside, by the name it has there, and comes out of the loop by none.
// CHECK-LABEL: func.func @taken_by_a_while_that_gives_nothing_back
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: scf.while (%[[M:[^ ]*]] = %[[A]],
// CHECK-NEXT: %[[V:.*]] = memref.load %[[M]]
// CHECK-NEXT: memref.dealloc %[[M]]
// CHECK: %[[B:.*]] = memref.alloc
// CHECK-NOT: memref.dealloc
// CHECK: scf.yield %[[B]],
func.func @taken_by_a_while_that_gives_nothing_back(%n: index, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  memref.store %f, %a[%c0] : memref<4xf32>
  %r = scf.while (%m = %a, %i = %c0) : (memref<4xf32>, index) -> index {
    %v = memref.load %m[%c0] : memref<4xf32>
    memref.store %v, %x[%c0] : memref<4xf32>
    %k = arith.cmpi slt, %i, %n : index
    scf.condition(%k) %i : index
  } do {
  ^bb0(%i: index):
    %b = memref.alloc() : memref<4xf32>
    memref.store %f, %b[%c0] : memref<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %b, %j : memref<4xf32>, index
  }
  return
}
