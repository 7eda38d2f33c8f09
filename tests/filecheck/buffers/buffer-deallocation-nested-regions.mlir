// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// The outer buffer is what both branches yield, and is returned; the inner one is freed in its branch.
// CHECK-LABEL: func.func @nested_region_control_flow(
// CHECK:         [[A:%.*]] = memref.alloc(
// CHECK-NEXT:    [[R:%.*]] = scf.if
// CHECK-NEXT:      scf.yield [[A]]
// CHECK:           [[B:%.*]] = memref.alloc(
// CHECK:           linalg.fill {{.*}} outs([[B]]
// CHECK-NEXT:      memref.dealloc [[B]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]]
func.func @nested_region_control_flow(%m: index, %n: index) -> memref<?x?xf32> {
  %0 = arith.cmpi eq, %m, %n : index
  %1 = memref.alloc(%m, %m) : memref<?x?xf32>
  %2 = scf.if %0 -> (memref<?x?xf32>) {
    scf.yield %1 : memref<?x?xf32>
  } else {
    %3 = memref.alloc(%m, %n) : memref<?x?xf32>
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%3 : memref<?x?xf32>)
    scf.yield %1 : memref<?x?xf32>
  }
  return %2 : memref<?x?xf32>
}

// -----

// Freed inside the branches where one of them allocates: before the allocation, and at once where it is not used.
// CHECK-LABEL: func.func @inside_branches(
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
func.func @inside_branches(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
    %b = memref.alloc() : memref<2xf32>
    memref.copy %x, %b : memref<2xf32> to memref<2xf32>
    memref.copy %b, %out : memref<2xf32> to memref<2xf32>
  } else {
  }
  return
}

// -----

// Nothing is gained inside: right behind the branch.
// CHECK-LABEL: func.func @behind_the_branch(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         scf.if
// CHECK-NEXT:      memref.copy [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc [[A]]
func.func @behind_the_branch(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  }
  return
}
