// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation --print-decisions 2>&1 | FileCheck %s

// The result is an argument as it came, and a result has memory of its own.
// CHECK: decision: result: copied: returned-input
// CHECK-LABEL: func.func @main(
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32> // expected-error {{wrong owner}}
}

// -----

// The value is returned more than once, and each result has memory of its own.
// CHECK: decision: result: copied: returned-twice
// CHECK-LABEL: func.func @main(
func.func @main(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32> // expected-error {{wrong owner}}
}

// -----

// The result is memory that another op frees than the caller would.
// CHECK: decision: result: copied: returned-freed-otherwise
// CHECK-LABEL: func.func @f(
func.func @f(%z: f32, %x: memref<4xf32>, %p: i1) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
  %g = gpu.alloc () : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%g : memref<4xf32>)
  return %a, %a, %x, %g : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
}
