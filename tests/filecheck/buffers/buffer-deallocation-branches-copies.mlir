// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-buffer-deallocation{mode=copies})' | FileCheck %s

// The block argument may be either allocation: a critical alias, which gets memory of its own on both ways.
// CHECK-LABEL: func.func @branch(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:       ^bb1:
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK:         [[T:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[B]], [[T]]
// CHECK-NEXT:    memref.dealloc [[B]]
// CHECK-NEXT:    cf.br ^bb3([[T]] : memref<2xf32>)
// CHECK:       ^bb2:
// CHECK:         [[S:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[A]], [[S]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    cf.br ^bb3([[S]] : memref<2xf32>)
// CHECK-NEXT:  ^bb3([[C:%.*]]: memref<2xf32>):
// CHECK-NEXT:    memref.copy [[C]]
// CHECK-NEXT:    memref.dealloc [[C]]
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

// An argument and an allocation come to one block argument: both ways pass on copies, sizes asked of what is copied.
// CHECK-LABEL: func.func @condBranchDynamicType(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<?xf32>,
// CHECK:       ^bb1:
// CHECK:         [[D:%.*]] = memref.dim [[X]]
// CHECK-NEXT:    [[T:%.*]] = memref.alloc([[D]])
// CHECK-NEXT:    memref.copy [[X]], [[T]]
// CHECK-NEXT:    cf.br ^bb3([[T]] : memref<?xf32>)
// CHECK:       ^bb2([[N:%.*]]: index):
// CHECK-NEXT:    [[A:%.*]] = memref.alloc([[N]])
// CHECK:         [[E:%.*]] = memref.dim [[A]]
// CHECK-NEXT:    [[S:%.*]] = memref.alloc([[E]])
// CHECK-NEXT:    memref.copy [[A]], [[S]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    cf.br ^bb3([[S]] : memref<?xf32>)
// CHECK-NEXT:  ^bb3([[C:%.*]]: memref<?xf32>):
// CHECK-NEXT:    memref.copy [[C]]
// CHECK-NEXT:    memref.dealloc [[C]]
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

// %3 of the nested branches is critical, an alias of an argument and an allocation; those before and behind it are not.
// CHECK-LABEL: func.func @condBranchDynamicTypeNested(
// CHECK-SAME:    [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<?xf32>,
// CHECK:       ^bb1:
// CHECK:         [[D:%.*]] = memref.dim [[X]]
// CHECK-NEXT:    [[T:%.*]] = memref.alloc([[D]])
// CHECK-NEXT:    memref.copy [[X]], [[T]]
// CHECK-NEXT:    cf.br ^bb6([[T]] : memref<?xf32>)
// CHECK:         [[A:%.*]] = memref.alloc(
// CHECK:       ^bb3:
// CHECK-NEXT:    cf.br ^bb5([[A]] : memref<?xf32>)
// CHECK:       ^bb5([[B:%.*]]: memref<?xf32>):
// CHECK:         memref.copy [[B]], [[S:%.*]] :
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    cf.br ^bb6([[S]] : memref<?xf32>)
// CHECK-NEXT:  ^bb6([[C:%.*]]: memref<?xf32>):
// CHECK-NEXT:    cf.br ^bb7([[C]] : memref<?xf32>)
// CHECK-NEXT:  ^bb7([[E:%.*]]: memref<?xf32>):
// CHECK-NEXT:    memref.copy [[E]]
// CHECK-NEXT:    memref.dealloc [[C]]
// CHECK-NEXT:    return
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

// The initial value, the result of the branch and what is yielded get memory of their own.
// CHECK-LABEL: func.func @loop_nested_if(
// CHECK:         memref.copy %{{.*}}, [[INIT:%.*]] :
// CHECK-NEXT:    [[R:%.*]] = scf.for {{.*}} iter_args([[ITER:%.*]] = [[INIT]])
// CHECK:           [[IF:%.*]] = scf.if
// CHECK-NOT:         i1
// CHECK:             memref.dealloc
// CHECK:           } else {
// CHECK:             memref.copy [[ITER]], [[S:%.*]] :
// CHECK-NEXT:        memref.dealloc [[ITER]]
// CHECK-NEXT:        scf.yield [[S]] : memref<2xf32>
// CHECK:           memref.copy [[IF]], [[T:%.*]] :
// CHECK-NEXT:      memref.dealloc [[IF]]
// CHECK-NEXT:      scf.yield [[T]] : memref<2xf32>
// CHECK:         memref.copy [[R]]
// CHECK-NEXT:    memref.dealloc [[R]]
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
