// RUN: %hotdesk-opt %s --allow-unregistered-dialect --hotdesk-buffer-deallocation | FileCheck %s

// A value of a type that nothing is known of may lead to memory that it is made of: a handle, a pointer, a descriptor.
// CHECK-LABEL: func.func @handle(
// CHECK:         "test.use"
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    "test.last"
func.func @handle(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %h = "test.handle"(%a) : (memref<8xf32>) -> !test.handle
  "test.use"(%h) : (!test.handle) -> ()
  "test.last"() : () -> ()
  return
}

// What is read through a pointer is a number, and hides nothing.
// CHECK-LABEL: func.func @pointer(
// CHECK:         ptr.load
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    "test.use"
func.func @pointer(%x: memref<8xf32, #ptr.generic_space>) {
  %a = memref.alloc() : memref<8xf32, #ptr.generic_space>
  memref.copy %x, %a : memref<8xf32, #ptr.generic_space> to memref<8xf32, #ptr.generic_space>
  %p = ptr.to_ptr %a : memref<8xf32, #ptr.generic_space> -> !ptr.ptr<#ptr.generic_space>
  %v = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  "test.use"(%v) : (f32) -> ()
  return
}

// A branch passes a pointer on.
// CHECK-LABEL: func.func @branch(
// CHECK:         llvm.load
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.store
func.func @branch(%x: memref<4xf32>, %z: index) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  %i = arith.index_cast %p : index to i64
  cf.br ^next(%i : i64)
^next(%q: i64):
  %r = llvm.inttoptr %q : i64 to !llvm.ptr
  %v = llvm.load %r : !llvm.ptr -> f32
  memref.store %v, %x[%z] : memref<4xf32>
  return
}

// A loop of branches passes a pointer back to where it was read before.
// CHECK-LABEL: func.func @back(
// CHECK-NOT:     memref.dealloc
// CHECK:         cf.cond_br
// CHECK:       ^{{.*}}:
// CHECK-DAG:     memref.dealloc
// CHECK-DAG:     memref.dealloc
// CHECK:         "test.last"
func.func @back(%x: memref<4xf32>, %c: i1) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  %q = memref.extract_aligned_pointer_as_index %b : memref<4xf32> -> index
  cf.br ^loop(%p : index)
^loop(%r: index):
  "test.use"(%r) : (index) -> ()
  cf.cond_br %c, ^loop(%q : index), ^out
^out:
  "test.last"() : () -> ()
  return
}

// A callee may show its caller's memory in a tensor.
// CHECK-LABEL: func.func @call(
// CHECK:         tensor.extract
// CHECK-NEXT:    memref.dealloc
func.func private @shown(%m: memref<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}
func.func @call(%x: memref<4xf32>, %z: index) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = call @shown(%a) : (memref<4xf32>) -> tensor<4xf32>
  %v = tensor.extract %t[%z] : tensor<4xf32>
  memref.store %v, %x[%z] : memref<4xf32>
  return
}

// A tensor somewhere keeps no memory that it does not show.
// CHECK-LABEL: func.func @beside(
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc
func.func @beside(%x: memref<4xf32>, %z: index) -> tensor<4xf32> {
  %t = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %v = memref.load %a[%z] : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  %w = memref.load %b[%z] : memref<4xf32>
  %s = arith.addf %v, %w : f32
  memref.store %s, %x[%z] : memref<4xf32>
  return %t : tensor<4xf32>
}

// What a device's registers hold is no pointer.
// CHECK-LABEL: func.func @registers(
// CHECK:         gpu.subgroup_mma_load_matrix
// CHECK-NEXT:    memref.dealloc
func.func @registers(%x: memref<32x32xf16>, %o: memref<32x32xf16>, %z: index) {
  %a = memref.alloc() : memref<32x32xf16>
  memref.copy %x, %a : memref<32x32xf16> to memref<32x32xf16>
  %m = gpu.subgroup_mma_load_matrix %a[%z, %z] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
  gpu.subgroup_mma_store_matrix %m, %o[%z, %z] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
  return
}

// The memory of an argument may leave as a tensor: nobody here frees it.
// CHECK-LABEL: func.func @argument_as_a_tensor(
// CHECK-NOT:     dealloc
// CHECK:         return
func.func @argument_as_a_tensor(%x: memref<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}
