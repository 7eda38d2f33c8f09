// RUN: %hotdesk-opt %s --split-input-file --hotdesk-displace-buffers --print-decisions 2>&1 | FileCheck %s

// The two buffers come from different allocators.
// CHECK: decision: result of linalg.exp: allocated: freed-by-another-op
// CHECK-LABEL: func.func @f(
func.func @f() -> memref<4xf32> {
  %c = arith.constant 1.0 : f32
  %a = gpu.alloc () : memref<4xf32>
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return %b : memref<4xf32>
}

// -----

// The allocation takes or makes a token, which gives it a place among what runs beside the program.
// CHECK: decision: result of linalg.exp: allocated: asynchronous
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
