// RUN: %hotdesk-opt %s --split-input-file --hotdesk-displace-buffers --print-decisions 2>&1 | FileCheck %s

// The operand has half the bytes.
// CHECK:       decision: result of linalg.generic: allocated: no-dead-operand-of-same-size, 16 bytes
// CHECK-LABEL: func.func @larger(
// CHECK:         linalg.generic
func.func @larger(%x: memref<4xf32>, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<2xf32>
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%a : memref<2xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : memref<2xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  return
}

// -----

// It lies in another memory space.
// CHECK:       decision: result of linalg.exp: allocated: other-memory-space, 16 bytes
// CHECK-LABEL: func.func @space(
// CHECK:         linalg.exp
func.func @space(%o: memref<4xf32>) {
  %c = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32, 1>
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32, 1>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32, 1>) outs(%b : memref<4xf32>)
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  return
}

// -----

// It is a constant.
// CHECK:       decision: result of linalg.exp: allocated: not-writable-constant, 16 bytes
// CHECK-LABEL: func.func @constant(
// CHECK:         linalg.exp
memref.global "private" constant @k : memref<4xf32> = dense<2.0>
func.func @constant(%o: memref<4xf32>) {
  %a = memref.get_global @k : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  return
}

// -----

// It is made in another block, which may run more often.
// CHECK:       decision: result of linalg.exp: allocated: different-block, 16 bytes
// CHECK-LABEL: func.func @block(
// CHECK:         linalg.exp
func.func @block(%c: i1, %o: memref<4xf32>) {
  %k = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  scf.if %c {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

// The function returns the operand as well.
// CHECK:       decision: result of linalg.exp: allocated: leaves-scope, 16 bytes
// CHECK-LABEL: func.func @returned(
// CHECK:         linalg.exp
func.func @returned(%k: f32) -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return %a, %b : memref<4xf32>, memref<4xf32>
}

// -----

// It is laid out by rows, the result by columns.
// CHECK:       decision: result of linalg.exp: allocated: different-layout, 64 bytes
// CHECK-LABEL: func.func @strided(
// CHECK:         linalg.exp
func.func @strided(%k: f32, %o: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  linalg.exp ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32, strided<[1, 4]>>)
  memref.copy %b, %o : memref<4x4xf32, strided<[1, 4]>> to memref<4x4xf32>
  return
}

// -----

// It is on the stack, the result on the heap.
// CHECK:       decision: result of linalg.exp: allocated: not-ordinary-memory, 16 bytes
// CHECK-LABEL: func.func @stack(
// CHECK:         linalg.exp
func.func @stack(%k: f32, %o: memref<4xf32>) {
  %a = memref.alloca() : memref<4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  return
}

// -----

// A view of the result is taken before the operand is there.
// CHECK:       decision: result of linalg.exp: allocated: destination-later, 16 bytes
// CHECK-LABEL: func.func @view_before(
// CHECK:         linalg.exp
func.func @view_before(%k: f32, %o: memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32>
  %v = memref.cast %b : memref<4xf32> to memref<?xf32>
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.copy %v, %o : memref<?xf32> to memref<4xf32>
  return
}

// -----

// The memory of the result is filled where it is made.
// CHECK:       decision: result of linalg.exp: allocated: does-more-than-allocate, 16 bytes
// CHECK-LABEL: func.func @clone(
// CHECK:         linalg.exp
func.func @clone(%k: f32, %o: memref<4xf32>, %s: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  %b = bufferization.clone %s : memref<4xf32> to memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.copy %b, %o : memref<4xf32> to memref<4xf32>
  return
}
