// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// The allocation takes or makes a token, which gives it a place among what runs beside the program.
// CHECK: decision: copy: copied: asynchronous
// CHECK-LABEL: func.func @f(
func.func @f(%o: memref<4xf32>) {
  %c = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
  %t0 = gpu.wait async
  %b, %t1 = gpu.alloc async [%t0] () : memref<4xf32>
  gpu.wait [%t1]
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  gpu.dealloc %b : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// The operation that allocates does more than that, such as filling the memory, so it stays as it is.
// CHECK: decision: copy: copied: does-more-than-allocate
// CHECK-LABEL: func.func @main(
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c = bufferization.clone %x : memref<4xf32> to memref<4xf32> // expected-error {{leak}}
  memref.copy %c, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Nothing says that other memory is as good as what the operation allocates.
// CHECK: decision: copy: copied: not-ordinary-memory
// CHECK-LABEL: func.func @f(
func.func @f(%x: memref<8xf32>, %o: memref<8xf32>) {
  %m = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%m : memref<8xf32>)
  %t = gpu.alloc () : memref<8xf32>
  memref.copy %m, %t : memref<8xf32> to memref<8xf32>
  memref.dealloc %m : memref<8xf32>
  memref.copy %t, %o : memref<8xf32> to memref<8xf32>
  gpu.dealloc %t : memref<8xf32>
  return
}

// -----

// How many bytes elements take that are memrefs, nobody says: what is between two such is told by what is the same alone.
// CHECK-LABEL: func.func @memrefs_of_memrefs(
// CHECK-COUNT-2: memref.copy
func.func @memrefs_of_memrefs(%h: memref<2xmemref<4xf32>>, %q: memref<2xmemref<4xf32>>) {
  %f = memref.subview %h[0] [1] [1] : memref<2xmemref<4xf32>> to memref<1xmemref<4xf32>, strided<[1]>>
  %g = memref.subview %h[1] [1] [1] : memref<2xmemref<4xf32>> to memref<1xmemref<4xf32>, strided<[1], offset: 1>>
  memref.copy %f, %g : memref<1xmemref<4xf32>, strided<[1]>> to memref<1xmemref<4xf32>, strided<[1], offset: 1>>
  memref.copy %h, %q : memref<2xmemref<4xf32>> to memref<2xmemref<4xf32>>
  return
}
