// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-results-to-out-params --print-decisions 2>&1 | FileCheck %s

// The result is an argument as it came, and a result has memory of its own.
// CHECK: decision: result 0 of @inner: copied: returned-input
func.func private @outer(%x: memref<f32>) -> memref<f32> {
  %r = call @inner(%x) : (memref<f32>) -> memref<f32>
  return %r : memref<f32>
}
func.func private @inner(%x: memref<f32>) -> memref<f32> {
  return %x : memref<f32>
}

// -----

// The result is a view of a value that is returned as well or used differently.
// CHECK: decision: result 0 of @make: copied: returned-view
// CHECK-LABEL: func.func @main(
func.func private @make(%f: f32) -> memref<f32> {
  %a = memref.alloca() : memref<f32>
  memref.store %f, %a[] : memref<f32>
  return %a : memref<f32>
}
func.func @main(%f: f32) -> f32 {
  %a = call @make(%f) : (f32) -> memref<f32>
  %v = memref.load %a[] : memref<f32> // expected-error {{use after free}}
  return %v : f32
}
