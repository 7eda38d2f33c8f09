// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reuse-arguments --print-decisions 2>&1 | FileCheck %s

// The call gets nothing but its result.
// CHECK:       decision: result of func.call: allocated: no-dead-operand-of-same-size
// CHECK-LABEL: func.func @alone(
func.func private @f(%r: memref<4xf32>) {
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%r : memref<4xf32>)
  return
}
func.func @alone(%out: memref<4xf32>) {
  %r = memref.alloc() : memref<4xf32>
  call @f(%r) : (memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// The argument is a constant.
// CHECK:       decision: result of func.call: allocated: not-writable-constant
// CHECK-LABEL: func.func @constant(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return
}
memref.global "private" constant @k : memref<4xf32> = dense<2.0>
func.func @constant(%out: memref<4xf32>) {
  %k = memref.get_global @k : memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  call @f(%k, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// The argument is laid out by columns.
// CHECK:       decision: result of func.call: allocated: different-layout
// CHECK-LABEL: func.func @by_columns2(
func.func private @f(%a: memref<4x4xf32, strided<[1, 4]>>, %r: memref<4x4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i, %i] : memref<4x4xf32, strided<[1, 4]>>
  linalg.fill ins(%s : f32) outs(%r : memref<4x4xf32>)
  return
}
func.func @by_columns2(%x: f32, %out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  linalg.fill ins(%x : f32) outs(%a : memref<4x4xf32, strided<[1, 4]>>)
  %r = memref.alloc() : memref<4x4xf32>
  call @f(%a, %r) : (memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32>) -> ()
  memref.copy %r, %out : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

// The function returns the argument.
// CHECK:       decision: result of func.call: allocated: leaves-scope
// CHECK-LABEL: func.func @returned(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<4xf32>)
  return
}
func.func @returned(%x: memref<4xf32>, %out: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return %a : memref<4xf32>
}

// -----

// The next iteration gets the argument.
// CHECK:       decision: result of func.call: allocated: kept-between-iterations
// CHECK-LABEL: func.func @carried(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<4xf32>)
  return
}
func.func @carried(%x: memref<4xf32>, %l: index, %u: index, %t: index, %out: memref<4xf32>) {
  %z = scf.for %i = %l to %u step %t iter_args(%p = %x) -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%p : memref<4xf32>) outs(%a : memref<4xf32>)
    %r = memref.alloc() : memref<4xf32>
    func.call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
    memref.copy %r, %out : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  return
}

// -----

// The memory of the argument is filled where it is made.
// CHECK:       decision: result of func.call: allocated: does-more-than-allocate
// CHECK-LABEL: func.func @clone(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<4xf32>)
  return
}
func.func @clone(%x: memref<4xf32>, %out: memref<4xf32>) {
  %a = bufferization.clone %x : memref<4xf32> to memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return
}

// -----

// The size of the argument is computed below the result.
// CHECK:       decision: result of func.call: allocated: size-defined-below
// CHECK-LABEL: func.func @below2(
func.func private @f(%a: memref<?xf32>, %r: memref<4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<?xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<4xf32>)
  return
}
func.func @below2(%x: f32, %out: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %r = memref.alloc() : memref<4xf32>
  %m = memref.dim %out, %0 : memref<?xf32>
  %c = arith.constant 4 : index
  %n = arith.addi %m, %c : index
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
  call @f(%a, %r) : (memref<?xf32>, memref<4xf32>) -> ()
  %v = memref.cast %r : memref<4xf32> to memref<?xf32>
  memref.copy %v, %out : memref<?xf32> to memref<?xf32>
  return
}

// -----

// The function reads elements elsewhere than it writes: behind the first, by columns, or of fewer bytes; or where a payload reads.
// One of the two lies four bytes behind, which no type says; or it may be one of two.
// CHECK-COUNT-6: decision: result of func.call: allocated: callee-keeps-argument
// CHECK-LABEL: func.func @read_elsewhere(
#id = affine_map<(d0) -> (d0)>
func.func private @behind(%a: memref<16xf32>, %r: memref<8xf32>) {
  %v = memref.subview %a[4][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
  linalg.exp ins(%v : memref<8xf32, strided<[1], offset: 4>>) outs(%r : memref<8xf32>)
  return
}
func.func private @by_columns(%a: memref<4x4xf32>, %r: memref<4x4xf32>) {
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%r : memref<4x4xf32>) permutation = [1, 0]
  return
}
func.func private @narrower(%a: memref<16xf32>, %r: memref<16xf16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<16xf32>) outs(%r : memref<16xf16>) {
  ^bb0(%i: f32, %o: f16):
    %c = arith.truncf %i : f32 to f16
    linalg.yield %c : f16
  }
  return
}
func.func private @inside(%a: memref<16xf32>, %r: memref<16xf32>) {
  %c = arith.constant 3 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<16xf32>) outs(%r : memref<16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = memref.load %a[%c] : memref<16xf32>
    %s = arith.addf %i, %k : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @written_behind(%a: memref<64xi8>, %r: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = memref.view %a[%c0][] : memref<64xi8> to memref<12xf32>
  %w = memref.view %r[%c4][] : memref<64xi8> to memref<12xf32>
  linalg.exp ins(%v : memref<12xf32>) outs(%w : memref<12xf32>)
  return
}
func.func private @one_of_two(%a: memref<64xi8>, %r: memref<64xi8>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = memref.view %a[%c0][] : memref<64xi8> to memref<12xf32>
  %s = memref.view %r[%c0][] : memref<64xi8> to memref<12xf32>
  %t = memref.view %r[%c4][] : memref<64xi8> to memref<12xf32>
  %w = arith.select %p, %s, %t : memref<12xf32>
  linalg.exp ins(%v : memref<12xf32>) outs(%w : memref<12xf32>)
  return
}
func.func @read_elsewhere(%x: memref<16xf32>, %y: memref<4x4xf32>, %o1: memref<8xf32>, %o2: memref<4x4xf32>, %o3: memref<16xf16>, %o4: memref<16xf32>, %z: memref<64xi8>, %o5: memref<64xi8>, %p: i1) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @behind(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.copy %r, %o1 : memref<8xf32> to memref<8xf32>
  %b = memref.alloc() : memref<4x4xf32>
  linalg.exp ins(%y : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  %s = memref.alloc() : memref<4x4xf32>
  call @by_columns(%b, %s) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  memref.copy %s, %o2 : memref<4x4xf32> to memref<4x4xf32>
  %c = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%c : memref<16xf32>)
  %t = memref.alloc() : memref<16xf16>
  call @narrower(%c, %t) : (memref<16xf32>, memref<16xf16>) -> ()
  memref.copy %t, %o3 : memref<16xf16> to memref<16xf16>
  %d = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%d : memref<16xf32>)
  %u = memref.alloc() : memref<16xf32>
  call @inside(%d, %u) : (memref<16xf32>, memref<16xf32>) -> ()
  memref.copy %u, %o4 : memref<16xf32> to memref<16xf32>
  %e = memref.alloc() : memref<64xi8>
  memref.copy %z, %e : memref<64xi8> to memref<64xi8>
  %v = memref.alloc() : memref<64xi8>
  call @written_behind(%e, %v) : (memref<64xi8>, memref<64xi8>) -> ()
  memref.copy %v, %o5 : memref<64xi8> to memref<64xi8>
  %f = memref.alloc() : memref<64xi8>
  memref.copy %z, %f : memref<64xi8> to memref<64xi8>
  %w = memref.alloc() : memref<64xi8>
  call @one_of_two(%f, %w, %p) : (memref<64xi8>, memref<64xi8>, i1) -> ()
  memref.copy %w, %o5 : memref<64xi8> to memref<64xi8>
  return
}
