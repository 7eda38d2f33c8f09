// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reuse-arguments --print-decisions 2>&1 | FileCheck %s

// The allocation takes or makes a token, which gives it a place among what runs beside the program.
// CHECK: decision: result of func.call: allocated: asynchronous
// CHECK-LABEL: func.func @asynchronous(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return
}
func.func @asynchronous(%x: f32, %out: memref<4xf32>) {
  %a, %t = gpu.alloc async () : memref<4xf32>
  gpu.wait [%t]
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// Nothing says that other memory is as good as what the operation allocates.
// CHECK: decision: result of func.call: allocated: not-ordinary-memory
// CHECK-LABEL: func.func @device(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return
}
func.func @device(%x: f32, %out: memref<4xf32>) {
  %a = gpu.alloc () : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// Something keeps a pointer to the argument.
// CHECK: decision: result of func.call: allocated: kept-by-unknown
// CHECK-LABEL: func.func @kept_by_unknown(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return
}
func.func @kept_by_unknown(%x: f32, %out: memref<4xf32>) -> index {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return %p : index
}
