// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls --print-decisions 2>&1 | FileCheck %s

// An earlier operation has taken the operand's buffer for its result.
// CHECK: decision: result of linalg.map: allocated: already-overwritten
// CHECK-LABEL: func.func @overwritten_unread(
func.func @overwritten_unread(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  %b = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// No operand that dies here has as many bytes as the result.
// CHECK: decision: result of hotdesk.contract: allocated: no-dead-operand-of-same-size
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %unused = "hotdesk.contract"(%x, %w, %e) {equation = "mk,kn->mn", accumulate = false}
      : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The operand lies in memory that comes from elsewhere, and nothing says that it may be written.
// CHECK: decision: result of linalg.map: allocated: not-writable-memory
// CHECK-LABEL: func.func @shown(
func.func @shown(%m: memref<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.exp } ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// The operand is a constant, and constants are never overwritten.
// CHECK: decision: result of linalg.map: allocated: not-writable-constant
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// The operand is a weight, and weights are never overwritten.
// CHECK: decision: result of linalg.map: allocated: not-writable-weight
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32> {hotdesk.kind = "input"}, %w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// The operand that dies here is a part of a larger buffer, which would stay alive.
// CHECK: decision: result of linalg.map: allocated: partial-view
// CHECK-LABEL: func.func @partial_view(
func.func @partial_view(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.tanh } ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// The operation reads the operand at places it has already overwritten.
// CHECK: decision: result of tensor.insert_slice: allocated: read-by-same-op
// CHECK-LABEL: func.func @insert_into_undefined(
func.func @insert_into_undefined(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %b = tensor.insert_slice %y into %a[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// The sizes are symbolic and could not be proven equal.
// CHECK: decision: result of linalg.map: allocated: size-not-proven-equal
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %r : tensor<?xf32>
}

// -----

// The operand lies in another memory space than the result.
// CHECK: decision: result of linalg.exp: allocated: other-memory-space
// CHECK-LABEL: func.func @other_memory_space(
func.func private @exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @other_memory_space(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
  %b = linalg.exp ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %r = call @exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
