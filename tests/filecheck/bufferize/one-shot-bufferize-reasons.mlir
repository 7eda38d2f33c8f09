// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize --print-decisions 2>&1 | FileCheck %s

// What the buffer holds is overwritten before anything reads it.
// CHECK: decision: result of linalg.add: in place: overwritten-unread
// CHECK-LABEL: func.func @given(
func.func @given(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%y, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The result is an argument as it came, which the caller has already.
// CHECK: decision: result 0: lent: equals-argument
// CHECK-LABEL: func.func @main(
func.func private @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r:2 = func.call @both(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %w = tensor.insert %s into %r#1[%c0] : tensor<4xf32>
  return %r#0, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// An earlier operation has taken the operand's buffer for its result.
// CHECK: decision: operand 0 of scf.yield: copied: already-overwritten
// CHECK-LABEL: func.func @cycle(
func.func @cycle(%a: tensor<4xi32>, %n: index, %c: i1) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%y = %v, %z = %a) -> (tensor<4xi32>, tensor<4xi32>) {
    %k = arith.select %c, %y, %v : tensor<4xi32>
    scf.yield %z, %k : tensor<4xi32>, tensor<4xi32>
  }
  return %r#1 : tensor<4xi32>
}

// -----

// The operand that dies here has another element type.
// CHECK: decision: result of linalg.generic: allocated: different-element-type
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32> {hotdesk.donated}) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = arith.addf %x, %y : tensor<?xf32>
  %b = math.exp %a : tensor<?xf32>
  %c = arith.cmpf olt, %b, %x : tensor<?xf32>
  %d = arith.select %c, %b, %y : tensor<?xi1>, tensor<?xf32>
  %e = arith.fptosi %d : tensor<?xf32> to tensor<?xi32>
  %f = arith.sitofp %e : tensor<?xi32> to tensor<?xf32>
  return %f, %d : tensor<?xf32>, tensor<?xf32>
}

// -----

// The value lies in other memory and is copied to where it has to be.
// CHECK: decision: operand 0 of tensor.insert_slice: copied: lies-elsewhere
// CHECK-LABEL: func.func @concat(
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// -----

// No operand that dies here has as many bytes as the result.
// CHECK: decision: result of ml_program.global_load: allocated: no-dead-operand-of-same-size
// CHECK-LABEL: func.func @f(
ml_program.global private mutable @gg(dense<0> : tensor<i64>) : tensor<i64>
func.func @f() -> i64 {
  %0 = ml_program.global_load @gg : tensor<i64>
  %e = tensor.extract %0[] : tensor<i64>
  return %e : i64
}

// -----

// The operand lies in memory that comes from elsewhere, and nothing says that it may be written.
// CHECK: decision: result of tensor.insert: copied: not-writable-memory, 16 bytes
// CHECK-LABEL: func.func @shown(
func.func @shown(%m: memref<4xf32>, %v: f32, %i: index) -> f32 {
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %w = tensor.insert %v into %t[%i] : tensor<4xf32>
  %e = tensor.extract %w[%i] : tensor<4xf32>
  return %e : f32
}

// -----

// The operand is a constant, and constants are never overwritten.
// CHECK: decision: result 0: copied: not-writable-constant
// CHECK-LABEL: func.func @main(
func.func @main() -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// The operand is a weight, and weights are never overwritten.
// CHECK: decision: result of linalg.map: allocated: not-writable-weight
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<2x4xf32> {hotdesk.kind = "input"}, %w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %d = tensor.empty() : tensor<2x4xf32>
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%d : tensor<2x4xf32>) dimensions = [0]
  %r = linalg.map { arith.mulf } ins(%x, %b : tensor<2x4xf32>, tensor<2x4xf32>) outs(%d : tensor<2x4xf32>)
  return %r : tensor<2x4xf32>
}

// -----

// The buffers lie in different memory spaces.
// CHECK: decision: result of bufferization.alloc_tensor: copied: other-memory-space
// CHECK-LABEL: func.func @loop(
func.func @loop(%c: f32, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<8xf32>
  %0 = linalg.fill ins(%c : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %0) -> tensor<8xf32> {
    %w = linalg.exp ins(%v : tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// The operand that dies here is a part of a larger buffer, which would stay alive.
// CHECK: decision: result of linalg.map: allocated: partial-view
// CHECK-LABEL: func.func @one_of_two(
func.func @one_of_two(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}, %c: i1) -> tensor<1xf32> {
  %s = arith.select %c, %x, %y : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { math.tanh } ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %part = tensor.extract_slice %r[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}

// -----

// The result is a part of a larger value, so only that part is kept.
// CHECK: decision: result 0: copied: partial-view-returned
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// The operation reads the operand at places it has already overwritten.
// CHECK: decision: result of tensor.insert_slice: allocated: read-by-same-op
// CHECK-LABEL: func.func @f(
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: i1) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%c : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The result is an argument as it came, and a result has memory of its own.
// CHECK: decision: result 0: copied: returned-input
// CHECK-LABEL: func.func @kept(
func.func @kept(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// The value is returned more than once, and each result has memory of its own.
// CHECK: decision: result 1: copied: returned-twice
// CHECK-LABEL: func.func @returned_twice(
func.func @returned_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// The result is a view of a value that is returned as well or used differently.
// CHECK: decision: result 0: copied: returned-view
// CHECK-LABEL: func.func @sizes(
func.func @sizes(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %holds = shape.const_witness true
  %r = shape.assuming %holds -> (tensor<?xf32>) {
    shape.assuming_yield %a : tensor<?xf32>
  }
  return %r, %a : tensor<?xf32>, tensor<?xf32>
}

// -----

// The result is a weight, and a result has memory of its own.
// CHECK: decision: result 0: copied: returned-weight
// CHECK-LABEL: func.func @weight(
func.func @weight(%w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// Executions of the loop may run at the same time, so each writes memory of its own.
// CHECK: decision: operand 3 of scf.for: copied: runs-in-parallel
// CHECK-LABEL: func.func @main(
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = arith.constant 7.0 : f32
  %t = arith.constant 2.0 : f32
  %x = tensor.splat %s : tensor<4xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %v = scf.for %j = %c0 to %c2 step %c1 iter_args(%y = %x) -> (tensor<4xf32>) {
      %p = tensor.extract %y[%j] : tensor<4xf32>
      %q = arith.mulf %p, %t : f32
      %w = tensor.insert %q into %y[%j] : tensor<4xf32>
      scf.yield %w : tensor<4xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// The sizes are symbolic and could not be proven equal.
// CHECK: decision: result of linalg.map: allocated: size-not-proven-equal
// CHECK-LABEL: func.func @loop(
func.func @loop(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<?xf32> {
    %a = linalg.map { math.exp } ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>)
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What it is a slice of is overwritten before it is read, and has more bytes to copy.
// CHECK: decision: result of tensor.extract_slice: copied: slice-instead
// CHECK-LABEL: func.func @main(
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<8xf32>
  %p = tensor.extract_slice %w[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %r = tensor.insert_slice %p into %w[1] [6] [1] : tensor<6xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
