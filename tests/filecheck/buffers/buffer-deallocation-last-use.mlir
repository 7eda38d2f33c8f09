// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(hotdesk-buffer-deallocation{placement=end-of-block})' | FileCheck %s --check-prefix=END

// A square root, then an addition: freed behind the second loop nest, which reads it last.
// CHECK-LABEL: func.func @fuse_element_18(
// CHECK:         [[A:%.*]] = memref.alloc({{.*}}) {alignment = 16 : i64}
// CHECK:         [[B:%.*]] = memref.alloc({{.*}}) {alignment = 16 : i64}
// CHECK:         memref.store {{.*}}, [[B]]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    "last"
// CHECK-NEXT:    return [[B]]
// END-LABEL:   func.func @fuse_element_18(
// END:           [[A:%.*]] = memref.alloc(
// END:           "last"
// END-NEXT:      memref.dealloc [[A]]
// END-NEXT:      return
func.func @fuse_element_18(%arg0: memref<?x5xf32>, %arg1: memref<?x5xf32>) -> memref<?x5xf32> {
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c0 : memref<?x5xf32>
  %alloc = memref.alloc(%dim) {alignment = 16 : i64} : memref<?x5xf32>
  scf.for %i = %c0 to %dim step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %4 = memref.load %arg0[%i, %j] : memref<?x5xf32>
      %5 = math.sqrt %4 : f32
      memref.store %5, %alloc[%i, %j] : memref<?x5xf32>
    }
  }
  %dim_0 = memref.dim %arg1, %c0 : memref<?x5xf32>
  %0 = arith.cmpi sgt, %dim_0, %dim : index
  %1 = arith.select %0, %dim_0, %dim : index
  %alloc_1 = memref.alloc(%1) {alignment = 16 : i64} : memref<?x5xf32>
  %2 = arith.cmpi sgt, %dim, %c1 : index
  %3 = arith.cmpi sgt, %dim_0, %c1 : index
  scf.for %i = %c0 to %1 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %4 = arith.select %2, %i, %c0 : index
      %5 = memref.load %alloc[%4, %j] : memref<?x5xf32>
      %6 = arith.select %3, %i, %c0 : index
      %7 = memref.load %arg1[%6, %j] : memref<?x5xf32>
      %8 = arith.addf %5, %7 : f32
      memref.store %8, %alloc_1[%i, %j] : memref<?x5xf32>
    }
  }
  "last"() : () -> ()
  return %alloc_1 : memref<?x5xf32>
}

// -----

// Behind views, casts and selects, and in front of the next allocation.
// CHECK-LABEL: func.func @aliases(
// CHECK:         [[A:%.*]] = memref.alloc() : memref<8xf32>
// CHECK:         [[B:%.*]] = memref.alloc() : memref<8xf32>
// CHECK:         [[S:%.*]] = arith.select
// CHECK:         memref.copy
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.dealloc [[B]]
// CHECK-NEXT:    [[C:%.*]] = memref.alloc()
// END-LABEL:   func.func @aliases(
// END:           memref.copy
// END:           memref.copy
// END:           memref.dealloc
// END-NEXT:      memref.dealloc
// END-NEXT:      memref.dealloc
// END-NEXT:      return
func.func @aliases(%p: i1, %x: memref<4xf32>, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  %s = arith.select %p, %a, %b : memref<8xf32>
  %c = memref.cast %s : memref<8xf32> to memref<?xf32>
  %v = memref.subview %c[2] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: 2>>
  memref.copy %v, %out : memref<4xf32, strided<[1], offset: 2>> to memref<4xf32>
  %d = memref.alloc() : memref<4xf32>
  memref.copy %x, %d : memref<4xf32> to memref<4xf32>
  memref.copy %d, %out : memref<4xf32> to memref<4xf32>
  return
}

// -----

// What a loop allocates is freed in each iteration.
// CHECK-LABEL: func.func @in_loops(
// CHECK:         scf.for
// CHECK-NEXT:      [[A:%.*]] = memref.alloc()
// CHECK:           scf.parallel
// CHECK-NEXT:        [[B:%.*]] = memref.alloc()
// CHECK:             memref.copy [[B]]
// CHECK-NEXT:        memref.dealloc [[B]]
// CHECK:           }
// CHECK-NEXT:      memref.dealloc [[A]]
func.func @in_loops(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<2xf32>
    memref.copy %x, %a : memref<2xf32> to memref<2xf32>
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %b = memref.alloc() : memref<2xf32>
      memref.copy %a, %b : memref<2xf32> to memref<2xf32>
      memref.copy %b, %out : memref<2xf32> to memref<2xf32>
    }
  }
  return
}
