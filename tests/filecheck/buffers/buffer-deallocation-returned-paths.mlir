// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// A result that is an argument on one path is copied there. What lies between the branch and the return decides how: one copy of
// it stays behind the branch, or each way gets one.

// Only read.
// CHECK-LABEL: func.func @only_read(
// CHECK:         [[R:%.*]] = scf.if {{.*}} -> (memref<4xf32>) {
// CHECK:           memref.copy %arg1,
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK:         return [[B]], [[R]]
func.func @only_read(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%b : memref<4xf32>)
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// Read, and new memory is written.
// CHECK-LABEL: func.func @new_memory_written(
// CHECK:         [[R:%.*]] = scf.if {{.*}} -> (memref<4xf32>) {
// CHECK:           memref.copy %arg1,
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK:         return [[B]], [[R]]
func.func @new_memory_written(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.store %one, %b[%c1] : memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// Read through a view.
// CHECK-LABEL: func.func @through_a_view(
// CHECK:         [[R:%.*]] = scf.if {{.*}} -> (memref<4xf32>) {
// CHECK:           memref.copy %arg1,
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    [[B:%.*]] = memref.alloc()
// CHECK:         return [[B]], [[R]]
func.func @through_a_view(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%b : memref<4xf32>)
  %v = memref.subview %r[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  %w = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  memref.copy %v, %w : memref<2xf32, strided<[1], offset: 1>> to memref<2xf32, strided<[1], offset: 1>>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// The result is written.
// CHECK-LABEL: func.func @result_written(
// CHECK:         [[R:%.*]]:2 = scf.if {{.*}} -> (memref<4xf32>, memref<4xf32>) {
// CHECK:         } else {
// CHECK:           memref.copy %arg1,
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#1, [[R]]#0
func.func @result_written(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.store %one, %r[%c1] : memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// The argument is written.
// CHECK-LABEL: func.func @argument_written(
// CHECK:         [[R:%.*]]:2 = scf.if {{.*}} -> (memref<4xf32>, memref<4xf32>) {
// CHECK:         } else {
// CHECK:           memref.copy %arg1,
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#1, [[R]]#0
func.func @argument_written(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.store %one, %x[%c1] : memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// An older buffer is used for the last time.
// CHECK-LABEL: func.func @older_used_last(
// CHECK:         [[R:%.*]]:2 = scf.if {{.*}} -> (memref<4xf32>, memref<4xf32>) {
// CHECK:         } else {
// CHECK:           memref.copy %arg1,
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#1, [[R]]#0
func.func @older_used_last(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  memref.copy %d, %b : memref<4xf32> to memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// An older buffer is written.
// CHECK-LABEL: func.func @older_written(
// CHECK:         [[R:%.*]]:2 = scf.if {{.*}} -> (memref<4xf32>, memref<4xf32>) {
// CHECK:         } else {
// CHECK:           memref.copy %arg1,
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#1, [[R]]#0
func.func @older_written(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.store %one, %d[%c1] : memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}

// -----

// New memory is freed.
// CHECK-LABEL: func.func @new_memory_freed(
// CHECK:         [[R:%.*]]:2 = scf.if {{.*}} -> (memref<4xf32>, memref<4xf32>) {
// CHECK:         } else {
// CHECK:           memref.copy %arg1,
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]#1, [[R]]#0
func.func @new_memory_freed(%p: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%d : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %t = memref.alloc() : memref<4xf32>
  memref.copy %r, %t : memref<4xf32> to memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %t, %b : memref<4xf32> to memref<4xf32>
  return %b, %r : memref<4xf32>, memref<4xf32>
}
