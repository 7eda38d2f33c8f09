// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-buffer-deallocation --hotdesk-buffer-deallocation | FileCheck %s

// No condition that is always true, no metadata read for it, no argument freed; the same when it runs again.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: memref<2xf32>
// CHECK-NOT:     scf.if %true
// CHECK-NOT:     memref.extract_strided_metadata
// CHECK-NOT:     memref.dealloc [[X]]
// CHECK:         memref.dealloc
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @plain(%x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// What the program frees itself is freed once, where it is used last; an argument is the caller's.
// CHECK-LABEL: func.func @freed_by_hand(
// CHECK:         scf.if
// CHECK:         }
// CHECK-NEXT:    memref.dealloc
// CHECK-NOT:     memref.dealloc
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @freed_by_hand(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  }
  "other"() : () -> ()
  memref.dealloc %x : memref<2xf32>
  scf.if %p {
    memref.dealloc %a : memref<2xf32>
  }
  return
}

// -----

// Only where what is freed may begin inside of its allocation, the base is asked for: a loop passes on parts of allocations.
// CHECK-LABEL: func.func @parts(
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[U:%.*]] = %{{[^ ]*}}) -> (memref<2xf32, strided<[?], offset: ?>>) {
// CHECK-NEXT:      [[B:%.*]] = memref.alloc() : memref<4xf32>
// CHECK:           memref.copy [[U]]
// CHECK-NEXT:      [[BASE:%base_buffer[_0-9]*]], {{.*}} = memref.extract_strided_metadata [[U]]
// CHECK-NEXT:      memref.dealloc [[BASE]] : memref<f32>
// CHECK-NOT:       memref.extract_strided_metadata
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.copy [[R]]
// CHECK-NEXT:    [[LAST:%base_buffer[_0-9]*]], {{.*}} = memref.extract_strided_metadata [[R]]
// CHECK-NEXT:    memref.dealloc [[LAST]] : memref<f32>
// CHECK-NEXT:    return
func.func @parts(%n: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %s = memref.subview %a[4] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: 4>>
  %v = memref.cast %s : memref<2xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[?], offset: ?>>
  memref.copy %x, %s : memref<2xf32> to memref<2xf32, strided<[1], offset: 4>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %v) -> memref<2xf32, strided<[?], offset: ?>> {
    %b = memref.alloc() : memref<4xf32>
    %t = memref.subview %b[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    memref.copy %u, %t : memref<2xf32, strided<[?], offset: ?>> to memref<2xf32, strided<[1], offset: 2>>
    %w = memref.cast %t : memref<2xf32, strided<[1], offset: 2>> to memref<2xf32, strided<[?], offset: ?>>
    scf.yield %w : memref<2xf32, strided<[?], offset: ?>>
  }
  memref.copy %r, %out : memref<2xf32, strided<[?], offset: ?>> to memref<2xf32>
  return
}
