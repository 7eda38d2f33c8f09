// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation="mode=copies" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation="placement=end-of-block" | FileCheck %s --check-prefix=END

// Ops that show memory and read other memory besides: the sizes that a reshape is given are in use until then.
// CHECK-LABEL: func.func @sizes(
// CHECK:         memref.reshape %{{.*}}([[S:%.*]]) :
// CHECK-NEXT:    memref.dealloc [[S]]
// CHECK-NEXT:    memref.load
// END-LABEL:   func.func @sizes(
// END:           memref.load
// END-NEXT:      memref.dealloc
// END-NEXT:      return
func.func @sizes(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = memref.alloc() : memref<2xindex>
  memref.store %c2, %s[%c0] : memref<2xindex>
  memref.store %c2, %s[%c1] : memref<2xindex>
  %r = memref.reshape %x(%s) : (memref<4xf32>, memref<2xindex>) -> memref<2x2xf32>
  %f = memref.load %r[%c0, %c1] : memref<2x2xf32>
  return %f : f32
}

// -----

// The sizes themselves are shown, in sizes that are a part of them.
// CHECK-LABEL: func.func @of_the_sizes(
// CHECK:         [[S:%.*]] = memref.alloc()
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc [[S]]
// CHECK-NEXT:    return
func.func @of_the_sizes() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = memref.alloc() : memref<2xindex>
  memref.store %c2, %s[%c0] : memref<2xindex>
  memref.store %c2, %s[%c1] : memref<2xindex>
  %p = memref.subview %s[0] [1] [1] : memref<2xindex> to memref<1xindex, strided<[1]>>
  %q = memref.cast %p : memref<1xindex, strided<[1]>> to memref<1xindex>
  %r = memref.reshape %s(%q) : (memref<2xindex>, memref<1xindex>) -> memref<?xindex>
  %f = memref.load %r[%c1] : memref<?xindex>
  return %f : index
}

// -----

// What shows unused memory goes with it, and the sizes are freed.
// CHECK-LABEL: func.func @unused(
// CHECK:         [[S:%.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.reshape
// CHECK:         memref.dealloc [[S]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @unused() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = memref.alloc() : memref<2xindex>
  memref.store %c2, %s[%c0] : memref<2xindex>
  memref.store %c2, %s[%c1] : memref<2xindex>
  %u = memref.alloc() : memref<4xf32>
  %r = memref.reshape %u(%s) : (memref<4xf32>, memref<2xindex>) -> memref<2x2xf32>
  memref.dealloc %r : memref<2x2xf32>
  return %c1 : index
}
