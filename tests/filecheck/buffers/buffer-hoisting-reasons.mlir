// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-hoisting --print-decisions 2>&1 | FileCheck %s

// The allocation takes or makes a token, which gives it a place among what runs beside the program.
// CHECK: decision: allocation: allocated: asynchronous
// CHECK-LABEL: func.func @async2(
func.func @async2(%c: i1, %x: memref<8xf32>, %o: memref<8xf32>) {
  cf.cond_br %c, ^a, ^b
^a:
  %m, %t1 = gpu.alloc async () : memref<8xf32>
  gpu.wait [%t1]
  cf.br ^e(%m : memref<8xf32>)
^b:
  cf.br ^e(%x : memref<8xf32>)
^e(%r: memref<8xf32>):
  memref.copy %r, %o : memref<8xf32> to memref<8xf32>
  return
}

// -----

// The operation that allocates does more than that, such as filling the memory, so it stays as it is.
// CHECK: decision: allocation: allocated: does-more-than-allocate
// CHECK-LABEL: func.func @f(
func.func @f(%c: i1, %x: memref<8xf32>, %o: memref<8xf32>) {
  cf.cond_br %c, ^a, ^b
^a:
  %m = bufferization.clone %x : memref<8xf32> to memref<8xf32>
  cf.br ^e(%m : memref<8xf32>)
^b:
  cf.br ^e(%x : memref<8xf32>)
^e(%r: memref<8xf32>):
  memref.copy %r, %o : memref<8xf32> to memref<8xf32>
  return
}

// -----

// Nothing says that the operation may allocate earlier or later, or more or less often.
// CHECK: decision: allocation: allocated: not-known-to-move
// CHECK-LABEL: func.func @f(
func.func @f(%c: i1, %x: memref<8xf32>, %o: memref<8xf32>) {
  cf.cond_br %c, ^a, ^b
^a:
  %m = gpu.alloc () : memref<8xf32>
  cf.br ^e(%m : memref<8xf32>)
^b:
  cf.br ^e(%x : memref<8xf32>)
^e(%r: memref<8xf32>):
  memref.copy %r, %o : memref<8xf32> to memref<8xf32>
  return
}
