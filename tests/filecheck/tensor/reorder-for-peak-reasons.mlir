// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reorder-for-peak --print-decisions 2>&1 | FileCheck %s

// In no order do the operations need fewer bytes at the peak than in this one.
// CHECK: decision: order of @halves{{.*}}: lowest-peak
// CHECK-LABEL: func.func @halves(
func.func @halves(%x: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %b = linalg.map { math.sqrt } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %w = tensor.empty() : tensor<8xf32>
  %r = tensor.insert_slice %a into %w[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %s = tensor.insert_slice %b into %r[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// In no order do the operations need fewer bytes at the peak than in the given one.
// CHECK: decision: order of @main{{.*}}: no-order-below
// CHECK-LABEL: func.func @main(
func.func @main() {
  %a = memref.alloca() : memref<4xf32>
  memref.dealloc %a : memref<4xf32> // expected-error {{invalid free}}
  return
}

// -----

// The elements are neither numbers nor vectors of numbers, so their bytes are not known.
// CHECK: decision: order of @stayed{{.*}}: unsized-element
// CHECK-LABEL: func.func @stayed(
func.func @stayed(%x: tensor<8xf32>) -> tensor<*xf32> {
  %r = tensor.cast %x : tensor<8xf32> to tensor<*xf32>
  return %r : tensor<*xf32>
}
