// RUN: %hotdesk-opt %s --split-input-file --hotdesk-displace-buffers --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-pipeline 2>&1 | FileCheck %s --check-prefix=ALL

// The chain takes one buffer, whether anybody frees it yet or not.
// CHECK:       decision: result of linalg.tanh: allocated: not-writable-input, 40000 bytes
// CHECK-COUNT-3: in place: dies-here, 40000 bytes
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<100x100xf32>
// CHECK-NEXT:    linalg.tanh ins(%arg1 : {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.add ins([[A]], %arg0 : {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.tanh ins([[A]] : {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.add ins([[A]], %arg0 : {{.*}} outs([[A]] :
// CHECK-NEXT:    memref.copy [[A]], %arg2
// CHECK-NEXT:    return
// ALL-LABEL:   func.func @main(
// ALL-NEXT:      [[A:%.*]] = memref.alloc() : memref<100x100xf32>
// ALL-NEXT:      linalg.tanh ins(%arg1 : {{.*}} outs([[A]] :
// ALL-NEXT:      linalg.add ins([[A]], %arg0 : {{.*}} outs([[A]] :
// ALL-NEXT:      linalg.tanh ins([[A]] : {{.*}} outs([[A]] :
// ALL-NEXT:      linalg.add ins([[A]], %arg0 : {{.*}} outs(%arg2 :
// ALL-NEXT:      memref.dealloc [[A]]
// ALL-NEXT:      return
func.func @main(%x1: memref<100x100xf32>, %x2: memref<100x100xf32>, %o: memref<100x100xf32>) {
  %x3 = memref.alloc() : memref<100x100xf32>
  linalg.tanh ins(%x2 : memref<100x100xf32>) outs(%x3 : memref<100x100xf32>)
  %x4 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x3, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x4 : memref<100x100xf32>)
  %x5 = memref.alloc() : memref<100x100xf32>
  linalg.tanh ins(%x4 : memref<100x100xf32>) outs(%x5 : memref<100x100xf32>)
  %x6 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x5, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x6 : memref<100x100xf32>)
  memref.copy %x6, %o : memref<100x100xf32> to memref<100x100xf32>
  return
}

// -----

// Deallocations go with what they freed; the last one stays. What is returned is freed by the caller.
// CHECK-LABEL: func.func @freed(
// CHECK:         [[A:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp ins(%arg0 : {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.generic {{.*}} ins([[A]], [[A]] : {{.*}} outs([[A]] :
// CHECK:         linalg.exp ins([[A]] : {{.*}} outs([[A]] :
// CHECK-NEXT:    return [[A]]
#id = affine_map<(d0) -> (d0)>
func.func @freed(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %a : memref<?xf32>, memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  memref.dealloc %a : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%b : memref<?xf32>) outs(%c : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return %c : memref<?xf32>
}

// -----

// What a call returned is the block's to give, since the block frees it.
// CHECK:       decision: result of linalg.exp: in place: dies-here, 8 bytes
// CHECK-LABEL: func.func @call(
// CHECK-NEXT:    [[R:%.*]] = call @ext(
// CHECK-NEXT:    linalg.exp ins([[R]] : {{.*}} outs([[R]] :
// CHECK-NEXT:    return [[R]]
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @call(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %1 = memref.alloc() : memref<2xf32>
  linalg.exp ins(%0 : memref<2xf32>) outs(%1 : memref<2xf32>)
  memref.dealloc %0 : memref<2xf32>
  return %1 : memref<2xf32>
}

// -----

// Each iteration writes over what went round the loop.
// CHECK:       decision: result of linalg.exp: in place: dies-here, 8 bytes
// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for {{.*}} iter_args([[U:%.*]] = %{{.*}})
// CHECK-NEXT:      linalg.exp ins([[U]] : {{.*}} outs([[U]] :
// CHECK-NEXT:      scf.yield [[U]]
func.func @loop(%n: index, %f: f32, %o: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<2xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a) -> memref<2xf32> {
    %b = memref.alloc() : memref<2xf32>
    linalg.exp ins(%u : memref<2xf32>) outs(%b : memref<2xf32>)
    memref.dealloc %u : memref<2xf32>
    scf.yield %b : memref<2xf32>
  }
  memref.copy %r, %o : memref<2xf32> to memref<2xf32>
  memref.dealloc %r : memref<2xf32>
  return
}

// -----

// Rule 1: other elements than the one written are read, directly or by a view in which they stand elsewhere.
// CHECK:       decision: result of linalg.transpose: allocated: read-by-same-op, 64 bytes
// CHECK:       decision: result of linalg.add: allocated: read-by-same-op, 64 bytes
// CHECK-LABEL: func.func @rule_1(
// CHECK-COUNT-3: memref.alloc()
func.func @rule_1(%x: memref<4x4xf32>, %o: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.exp ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) permutation = [1, 0]
  memref.dealloc %a : memref<4x4xf32>
  %t = memref.transpose %b (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  %c = memref.alloc() : memref<4x4xf32>
  linalg.add ins(%b, %t : memref<4x4xf32>, memref<4x4xf32, strided<[1, 4]>>) outs(%c : memref<4x4xf32>)
  memref.dealloc %b : memref<4x4xf32>
  memref.copy %c, %o : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %c : memref<4x4xf32>
  return
}

// -----

// Rule 1: a product accumulates into its result, whose contents it wants, and reads rows again and again.
// CHECK-NOT:   in place
// CHECK-LABEL: func.func @accumulated(
// CHECK-COUNT-2: memref.alloc()
func.func @accumulated(%z: f32, %x: memref<4x4xf32>, %o: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.exp ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<4x4xf32>)
  linalg.matmul ins(%a, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  memref.dealloc %a : memref<4x4xf32>
  memref.copy %b, %o : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %b : memref<4x4xf32>
  return
}

// -----

// Rule 2: another element type; a part of a buffer.
// CHECK:       decision: result of linalg.generic: allocated: different-element-type, 16 bytes
// CHECK:       decision: result of linalg.exp: allocated: partial-view, 32 bytes
// CHECK-LABEL: func.func @rule_2(
// CHECK-COUNT-4: memref.alloc()
#id = affine_map<(d0) -> (d0)>
func.func @rule_2(%x: memref<8xf32>, %o: memref<8xf32>, %h: memref<8xf16>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %b = memref.alloc() : memref<8xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%b : memref<8xf16>) {
  ^bb0(%p: f32, %q: f16):
    %s = arith.truncf %p : f32 to f16
    linalg.yield %s : f16
  }
  memref.dealloc %a : memref<8xf32>
  memref.copy %b, %h : memref<8xf16> to memref<8xf16>
  memref.dealloc %b : memref<8xf16>
  %c = memref.alloc() : memref<16xf32>
  %v = memref.reinterpret_cast %c to offset: [0], sizes: [8], strides: [1] : memref<16xf32> to memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%v : memref<8xf32>)
  %d = memref.alloc() : memref<8xf32>
  linalg.exp ins(%v : memref<8xf32>) outs(%d : memref<8xf32>)
  memref.dealloc %c : memref<16xf32>
  memref.copy %d, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %d : memref<8xf32>
  return
}

// -----

// Rule 3: a later reader; a reader in the next iteration.
// CHECK:       decision: result of linalg.tanh: allocated: read-later, 32 bytes (linalg.tanh at {{.*}}, linalg.add at
// CHECK:       decision: result of linalg.tanh: allocated: {{.*}}, 32 bytes
// CHECK-LABEL: func.func @rule_3(
// CHECK-COUNT-3: memref.alloc()
func.func @rule_3(%n: index, %x: memref<8xf32>, %o: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %b = memref.alloc() : memref<8xf32>
  linalg.tanh ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.add ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%b : memref<8xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %c = memref.alloc() : memref<8xf32>
    linalg.tanh ins(%b : memref<8xf32>) outs(%c : memref<8xf32>)
    memref.copy %c, %o : memref<8xf32> to memref<8xf32>
    memref.dealloc %c : memref<8xf32>
  }
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Rule 4: the operand is freed, and the result by nobody, who may be freed later: nothing says where. Rule 5: an op counts on
// the result's alignment.
// CHECK:       decision: result of linalg.exp: allocated: freed-elsewhere, 32 bytes
// CHECK:       decision: result of linalg.exp: allocated: alignment-assumed, 32 bytes
// CHECK-LABEL: func.func @rules_4_and_5(
// CHECK-COUNT-4: memref.alloc
func.func @rules_4_and_5(%x: memref<8xf32>, %o: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
  %b = memref.alloc() : memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.copy %b, %o : memref<8xf32> to memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%c : memref<8xf32>)
  %d = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  linalg.exp ins(%c : memref<8xf32>) outs(%d : memref<8xf32>)
  memref.dealloc %c : memref<8xf32>
  %e = memref.assume_alignment %d, 64 : memref<8xf32>
  memref.copy %e, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %d : memref<8xf32>
  return
}
