// RUN: %hotdesk-opt %s --split-input-file --hotdesk-allocate-workspaces --print-decisions 2>&1 | FileCheck %s

// A transposed convolution gathers the filters of a tap, and spreads what they give: 32 * (64 + 784) elements of f32.
// CHECK:       decision: convolution workspace: allocated: workspace, [[BYTES:108544]] bytes
// CHECK-LABEL: func.func @needs_scratch(
// CHECK-SAME:    [[X:%.*]]: memref<1x64x28x28xf32>, [[W:%.*]]: memref<32x64x2x2xf32>, [[Y:%.*]]: memref<1x32x56x56xf32>)
// CHECK-NEXT:    [[S:%.*]] = memref.alloc() : memref<[[BYTES]]xi8>
// CHECK-NEXT:    "hotdesk.conv"([[X]], [[W]], [[Y]], [[S]]) {accumulate = false,{{.*}} spread = array<i64: 32, 784, 1>,
func.func @needs_scratch(%x: memref<1x64x28x28xf32>, %w: memref<32x64x2x2xf32>, %y: memref<1x32x56x56xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x28x28xf32>, memref<32x64x2x2xf32>, memref<1x32x56x56xf32>) -> ()
  return
}

// -----

// Weights of a small plane, and 16-bit ones beside sums of f32, are read where they lie: 32 * 256 and 32 * 784 elements of f32.
// CHECK-LABEL: func.func @reads_weights(
// CHECK:         memref.alloc() : memref<32768xi8>
// CHECK:         spread = array<i64: 32, 256, 0>,
// CHECK:         memref.alloc() : memref<100352xi8>
// CHECK:         spread = array<i64: 32, 784, 0>,
func.func @reads_weights(%x: memref<1x64x16x16xf32>, %w: memref<32x64x2x2xf32>, %y: memref<1x32x32x32xf32>,
    %x16: memref<1x64x28x28xbf16>, %w16: memref<32x64x2x2xbf16>, %y16: memref<1x32x56x56xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x16x16xf32>, memref<32x64x2x2xf32>, memref<1x32x32x32xf32>) -> ()
  "hotdesk.conv"(%x16, %w16, %y16) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64,
    input_dilations = array<i64: 2, 2>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x28x28xbf16>, memref<32x64x2x2xbf16>, memref<1x32x56x56xf32>) -> ()
  return
}

// -----

// A 1×1 convolution is a product of matrices as they lie.
// CHECK-LABEL: func.func @needs_none(
// CHECK-NOT:     memref.alloc
// CHECK:         "hotdesk.conv"({{%[^,]*}}, {{%[^,]*}}, {{%[^,]*}}) {
func.func @needs_none(%x: memref<1x64x56x56xf32>, %w: memref<64x64x1x1xf32>, %y: memref<1x64x56x56xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>}
    : (memref<1x64x56x56xf32>, memref<64x64x1x1xf32>, memref<1x64x56x56xf32>) -> ()
  return
}

// -----

// A panel of the unfolded image is packed on the stack.
// CHECK-LABEL: func.func @unfolds(
// CHECK-NOT:     memref.alloc
// CHECK:         "hotdesk.conv"({{%[^,]*}}, {{%[^,]*}}, {{%[^,]*}}) {
func.func @unfolds(%x: memref<1x64x56x56xf32>, %w: memref<64x64x3x3xf32>, %y: memref<1x64x28x28xf32>) {
  "hotdesk.conv"(%x, %w, %y) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : (memref<1x64x56x56xf32>, memref<64x64x3x3xf32>, memref<1x64x28x28xf32>) -> ()
  return
}

// -----

// In a loop, and behind one, kernels are generated for what types tell of memory: they ask for as much.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         scf.for
// CHECK-NEXT:      [[S:%.*]] = memref.alloc() : memref<[[MORE:[0-9]+]]xi8>
// CHECK-NEXT:      "hotdesk.conv"({{.*}}, [[S]]) {accumulate = false,
// CHECK:         [[T:%.*]] = memref.alloc() : memref<[[MORE]]xi8>
// CHECK-NEXT:    "hotdesk.conv"({{.*}}, [[T]]) {accumulate = false,
func.func @in_a_loop(%x: memref<1x64x28x28xf32>, %w: memref<32x64x2x2xf32>, %y: memref<1x32x56x56xf32>, %z: memref<1x32x56x56xf32>,
    %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (memref<1x32x56x56xf32>) {
    "hotdesk.conv"(%x, %w, %s) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
      pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
      : (memref<1x64x28x28xf32>, memref<32x64x2x2xf32>, memref<1x32x56x56xf32>) -> ()
    scf.yield %z : memref<1x32x56x56xf32>
  }
  "hotdesk.conv"(%x, %w, %r) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x64x28x28xf32>, memref<32x64x2x2xf32>, memref<1x32x56x56xf32>) -> ()
  return
}
