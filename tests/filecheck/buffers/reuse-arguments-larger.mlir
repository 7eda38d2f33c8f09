// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reuse-arguments --print-decisions 2>&1 | FileCheck %s

// Form 2: the argument is larger. The two calls share the variant; the function stays.
// CHECK:       decision: result of func.call: in place: dies-here, 32 bytes
// CHECK:       decision: result of func.call: in place: dies-here, 32 bytes
// CHECK-LABEL: func.func private @f(%arg0: memref<16xf32>, %arg1: memref<8xf32>)
// CHECK-LABEL: func.func private @f_over_0(%arg0: memref<16xf32>) {
// CHECK:         [[R:%.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [8], strides: [1] : memref<16xf32> to memref<8xf32>
// CHECK:         memref.load %arg0
// CHECK:         linalg.fill {{.*}} outs([[R]] :
// CHECK-NOT:   func.func private
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @larger(
// CHECK:         [[A:%.*]] = memref.alloc() {{.*}}: memref<16xf32>
// CHECK:         [[R:%.*]] = memref.reinterpret_cast [[A]] to offset: [0], sizes: [8], strides: [1]
// CHECK:         call @f_over_0([[A]]) : (memref<16xf32>) -> ()
// CHECK:         linalg.sqrt ins([[R]] :
// CHECK:         memref.dealloc [[A]] : memref<16xf32>
// CHECK-NOT:     memref.dealloc
func.func @larger(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}
// CHECK-LABEL: func.func @again(
// CHECK:         call @f_over_0({{%.*}}) : (memref<16xf32>) -> ()
func.func @again(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Form 1: one type. The result may come first.
// CHECK-LABEL: func.func private @f_over_2(%arg0: f32, %arg1: memref<4xf32>) {
// CHECK:         [[S:%.*]] = memref.load %arg1
// CHECK:         linalg.fill ins([[S]] : f32) outs(%arg1 :
// CHECK-LABEL: func.func @same(
// CHECK:         call @f_over_2({{%.*}}, [[A:%.*]]) : (f32, memref<4xf32>) -> ()
// CHECK:         linalg.sqrt ins([[A]] :
func.func private @f(%r: memref<4xf32>, %z: f32, %a: memref<4xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<4xf32>)
  return
}
func.func @same(%z: f32, %x: memref<4xf32>, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<4xf32>
  call @f(%r, %z, %a) : (memref<4xf32>, f32, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// Form 3: other elements, symbolic sizes: eight bytes for each of four.
// CHECK-LABEL: func.func private @g(
// CHECK-LABEL: func.func private @g_over_0(%arg0: memref<?xi8>, %arg1: index, %arg2: index) {
// CHECK:         [[A:%.*]] = memref.view %arg0[{{%.*}}][%arg1] : memref<?xi8> to memref<?xf64>
// CHECK:         [[R:%.*]] = memref.view %arg0[{{%.*}}][%arg2] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.load [[A]]
// CHECK:         linalg.fill {{.*}} outs([[R]] :
// CHECK-LABEL: func.func @elements(
// CHECK:         [[M:%.*]] = memref.alloc({{%.*}}) {alignment = 8 : i64} : memref<?xi8>
// CHECK:         [[V:%.*]] = memref.view [[M]][{{%.*}}][[[N:%.*]]] : memref<?xi8> to memref<?xf32>
// CHECK:         call @g_over_0([[M]], [[N]], [[N]]) : (memref<?xi8>, index, index) -> ()
// CHECK:         linalg.sqrt ins([[V]] :
// CHECK:         memref.dealloc [[M]] : memref<?xi8>
func.func private @g(%a: memref<?xf64>, %r: memref<?xf32>) {
  %i = arith.constant 0 : index
  %s = memref.load %a[%i] : memref<?xf64>
  %t = arith.truncf %s : f64 to f32
  linalg.fill ins(%t : f32) outs(%r : memref<?xf32>)
  return
}
func.func @elements(%x: memref<?xf64>, %out: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %n = memref.dim %x, %0 : memref<?xf64>
  %a = memref.alloc(%n) : memref<?xf64>
  linalg.exp ins(%x : memref<?xf64>) outs(%a : memref<?xf64>)
  %r = memref.alloc(%n) : memref<?xf32>
  call @g(%a, %r) : (memref<?xf64>, memref<?xf32>) -> ()
  memref.dealloc %a : memref<?xf64>
  linalg.sqrt ins(%r : memref<?xf32>) outs(%out : memref<?xf32>)
  memref.dealloc %r : memref<?xf32>
  return
}

// -----

// Results in a row lie in the memory of the first argument, with other elements each.
// CHECK-LABEL: func.func @row(
// CHECK:         [[M:%.*]] = memref.alloc() {alignment = 8 : i64} : memref<64xi8>
// CHECK:         call @f_over_0([[M]]) : (memref<64xi8>) -> ()
// CHECK:         call @g_over_0([[M]]) : (memref<64xi8>) -> ()
// CHECK:         memref.dealloc [[M]] : memref<64xi8>
// CHECK-NOT:     memref.dealloc
func.func private @f(%a: memref<16xf32>, %r: memref<6xf64>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  %t = arith.extf %s : f32 to f64
  linalg.fill ins(%t : f64) outs(%r : memref<6xf64>)
  return
}
func.func private @g(%a: memref<6xf64>, %r: memref<6xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<6xf64>
  %t = arith.truncf %s : f64 to f32
  linalg.fill ins(%t : f32) outs(%r : memref<6xf32>)
  return
}
func.func @row(%x: memref<16xf32>, %out: memref<6xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<6xf64>
  call @f(%a, %b) : (memref<16xf32>, memref<6xf64>) -> ()
  memref.dealloc %a : memref<16xf32>
  %c = memref.alloc() : memref<6xf32>
  call @g(%b, %c) : (memref<6xf64>, memref<6xf32>) -> ()
  memref.dealloc %b : memref<6xf64>
  linalg.sqrt ins(%c : memref<6xf32>) outs(%out : memref<6xf32>)
  memref.dealloc %c : memref<6xf32>
  return
}

// -----

// Rule 1: an argument of the caller's is not the caller's to give.
// CHECK:       decision: result of func.call: allocated: not-writable-input, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @input(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @input(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%x, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 1: the call gets it twice.
// CHECK:       decision: result of func.call: allocated: read-by-same-op, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>, %b: memref<16xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @twice(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>, memref<16xf32>) -> ()
func.func @twice(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r, %a) : (memref<16xf32>, memref<8xf32>, memref<16xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 1: the call gets a part of it.
// CHECK:       decision: result of func.call: allocated: partial-view, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @part(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @part(%x: memref<32xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<32xf32>
  linalg.exp ins(%x : memref<32xf32>) outs(%a : memref<32xf32>)
  %v = memref.subview %a[0] [16] [1] : memref<32xf32> to memref<16xf32>
  %r = memref.alloc() : memref<8xf32>
  call @f(%v, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<32xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 2: it is read behind the call.
// CHECK:       decision: result of func.call: allocated: read-later, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @later(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @later(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  linalg.tanh ins(%a : memref<16xf32>) outs(%x : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 2: it is made outside of the loop of the call, and read again in the next iteration.
// CHECK:       decision: result of func.call: allocated: read-later, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @loop(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @loop(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  scf.for %i = %0 to %2 step %1 {
  %r = memref.alloc() : memref<8xf32>
  func.call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  }
  memref.dealloc %a : memref<16xf32>
  return
}

// -----

// Rule 3: it is smaller.
// CHECK:       decision: result of func.call: allocated: too-small, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<4xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @smaller(
// CHECK:         call @f({{.*}}) : (memref<4xf32>, memref<8xf32>) -> ()
func.func @smaller(%x: memref<4xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<4xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 3: nobody knows which is larger.
// CHECK:       decision: result of func.call: allocated: size-not-proven
// CHECK-NOT:   _over_
// CHECK-LABEL: func.func @unknown_size(
// CHECK:         call @f({{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
func.func private @f(%a: memref<?xf32>, %r: memref<?xf32>) {
  %i = arith.constant 0 : index
  %s = memref.load %a[%i] : memref<?xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<?xf32>)
  return
}
func.func @unknown_size(%x: memref<?xf32>, %out: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %n = memref.dim %x, %0 : memref<?xf32>
  %m = memref.dim %out, %0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  %r = memref.alloc(%m) : memref<?xf32>
  call @f(%a, %r) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.dealloc %a : memref<?xf32>
  linalg.sqrt ins(%r : memref<?xf32>) outs(%out : memref<?xf32>)
  memref.dealloc %r : memref<?xf32>
  return
}

// -----

// Rule 4: nothing frees it, but the result is freed.
// CHECK:       decision: result of func.call: allocated: freed-elsewhere, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @not_freed(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @not_freed(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 5: the function reads it when the result is written.
// CHECK:       decision: result of func.call: allocated: callee-keeps-argument, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  memref.store %s, %r[%i] : memref<8xf32>
  %t = memref.load %a[%i] : memref<16xf32>
  memref.store %t, %r[%i] : memref<8xf32>
  return
}
// CHECK-LABEL: func.func @read_after_write(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @read_after_write(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 5: a loop reads the one and writes the other.
// CHECK:       decision: result of func.call: allocated: callee-keeps-argument, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  scf.for %i = %0 to %8 step %1 {
    %j = arith.subi %8, %i : index
    %s = memref.load %a[%j] : memref<16xf32>
    memref.store %s, %r[%i] : memref<8xf32>
  }
  return
}
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @in_a_loop(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 5: the function counts on the alignment of the result.
// CHECK:       decision: result of func.call: allocated: alignment-assumed, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  %q = memref.assume_alignment %r, 16 : memref<8xf32>
  linalg.fill ins(%s : f32) outs(%q : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @aligned(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @aligned(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 5: the function has several blocks.
// CHECK:       decision: result of func.call: allocated: used-across-blocks, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  cf.br ^end
^end:
  return
}
// CHECK-LABEL: func.func @blocks(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @blocks(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 5: the function has no body.
// CHECK:       decision: result of func.call: allocated: no-body, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(memref<16xf32>, memref<8xf32>)
// CHECK-LABEL: func.func @body(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @body(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 6: the larger argument would be held beside another buffer.
// CHECK:       decision: result of func.call: allocated: raises-peak, 32 bytes
// CHECK-NOT:   _over_
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @peak(
// CHECK:         call @f({{.*}}) : (memref<16xf32>, memref<8xf32>) -> ()
func.func @peak(%z: f32, %w: memref<12xf32>, %x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  %c = memref.alloc() : memref<12xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<12xf32>)
  memref.copy %c, %w : memref<12xf32> to memref<12xf32>
  memref.dealloc %c : memref<12xf32>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// Rule 4: it lies in another memory space.
// CHECK:       decision: result of func.call: allocated: other-memory-space, 32 bytes
// CHECK-NOT:   _over_
// CHECK-LABEL: func.func @space(
// CHECK:         call @f({{.*}}) : (memref<16xf32, 1>, memref<8xf32>) -> ()
func.func private @f(%a: memref<16xf32, 1>, %r: memref<8xf32>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32, 1>
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  return
}
func.func @space(%x: memref<16xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<16xf32, 1>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32, 1>)
  %r = memref.alloc() : memref<8xf32>
  call @f(%a, %r) : (memref<16xf32, 1>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<16xf32, 1>
  linalg.sqrt ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  return
}

// -----

// One result of each call; names of variants are not taken twice; a number that the call returns stays.
// CHECK-LABEL: func.func private @f_over_0_1(%arg0: memref<16xf32>, %arg1: memref<8xf32>) -> i32 {
// CHECK:         [[R:%.*]] = memref.reinterpret_cast %arg0
// CHECK:         linalg.fill {{.*}} outs([[R]] :
// CHECK:         linalg.fill {{.*}} outs(%arg1 :
// CHECK-LABEL: func.func @two(
// CHECK:         [[A:%.*]] = memref.alloc() {{.*}}: memref<16xf32>
// CHECK:         [[Q:%.*]] = memref.alloc() : memref<8xf32>
// CHECK:         call @f_over_0_1([[A]], [[Q]]) : (memref<16xf32>, memref<8xf32>) -> i32
// CHECK-LABEL: func.func private @f_over_0()
func.func private @f(%a: memref<16xf32>, %r: memref<8xf32>, %q: memref<8xf32>) -> i32 {
  %i = arith.constant 3 : index
  %n = arith.constant 7 : i32
  %s = memref.load %a[%i] : memref<16xf32>
  %e = arith.negf %s : f32
  linalg.fill ins(%s : f32) outs(%r : memref<8xf32>)
  linalg.fill ins(%e : f32) outs(%q : memref<8xf32>)
  return %n : i32
}
func.func @two(%x: memref<16xf32>, %out: memref<8xf32>) -> i32 {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<8xf32>
  %q = memref.alloc() : memref<8xf32>
  %n = call @f(%a, %r, %q) : (memref<16xf32>, memref<8xf32>, memref<8xf32>) -> i32
  memref.dealloc %a : memref<16xf32>
  linalg.sub ins(%r, %q : memref<8xf32>, memref<8xf32>) outs(%out : memref<8xf32>)
  memref.dealloc %r : memref<8xf32>
  memref.dealloc %q : memref<8xf32>
  return %n : i32
}
func.func private @f_over_0() {
  return
}

// -----

// The function reads each element of the argument where it writes the result: of other elements of as many bytes, a part of a
// larger argument, and one of two arguments.
// CHECK:       decision: result of func.call: in place: dies-here, 64 bytes
// CHECK:       decision: result of func.call: in place: dies-here, 64 bytes
// CHECK-LABEL: func.func private @round_over_0(%arg0: memref<256xi8>) {
// CHECK:         [[A:%.*]] = memref.view %arg0[{{.*}}][] : memref<256xi8> to memref<64xf32>
// CHECK:         [[R:%.*]] = memref.view %arg0[{{.*}}][] : memref<256xi8> to memref<16xi32>
// CHECK:         [[V:%.*]] = memref.subview [[A]][0] [16] [1]
// CHECK:         linalg.generic {{.*}} ins([[V]] : {{.*}}) outs([[R]] :
// CHECK-LABEL: func.func private @add_over_1(%arg0: memref<16xi32>, %arg1: memref<16xi32>) {
// CHECK:         linalg.add ins(%arg0, %arg1 : {{.*}}) outs(%arg1 :
// CHECK-LABEL: func.func @rounded(
// CHECK:         [[M:%.*]] = memref.alloc() {alignment = 4 : i64} : memref<256xi8>
// CHECK-NOT:     memref.alloc
// CHECK:         call @round_over_0([[M]]) : (memref<256xi8>) -> ()
// CHECK:         memref.dealloc [[M]] : memref<256xi8>
// CHECK-NOT:     memref.dealloc
// CHECK-LABEL: func.func @added(
// CHECK:         [[M:%.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK:         call @add_over_1({{%.*}}, [[M]]) : (memref<16xi32>, memref<16xi32>) -> ()
#id = affine_map<(d0) -> (d0)>
func.func private @round(%a: memref<64xf32>, %r: memref<16xi32>) {
  %v = memref.subview %a[0][16][1] : memref<64xf32> to memref<16xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : memref<16xf32, strided<[1]>>) outs(%r : memref<16xi32>) {
  ^bb0(%i: f32, %o: i32):
    %c = arith.fptosi %i : f32 to i32
    linalg.yield %c : i32
  }
  return
}
func.func private @add(%y: memref<16xi32>, %a: memref<16xi32>, %r: memref<16xi32>) {
  linalg.add ins(%y, %a : memref<16xi32>, memref<16xi32>) outs(%r : memref<16xi32>)
  return
}
func.func @rounded(%x: memref<64xf32>, %out: memref<16xi32>) {
  %a = memref.alloc() : memref<64xf32>
  linalg.negf ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  %r = memref.alloc() : memref<16xi32>
  call @round(%a, %r) : (memref<64xf32>, memref<16xi32>) -> ()
  memref.dealloc %a : memref<64xf32>
  linalg.add ins(%r, %r : memref<16xi32>, memref<16xi32>) outs(%out : memref<16xi32>)
  memref.dealloc %r : memref<16xi32>
  return
}
func.func @added(%y: memref<16xi32>, %out: memref<16xi32>) {
  %a = memref.alloc() : memref<16xi32>
  linalg.mul ins(%y, %y : memref<16xi32>, memref<16xi32>) outs(%a : memref<16xi32>)
  %s = memref.alloc() : memref<16xi32>
  call @add(%y, %a, %s) : (memref<16xi32>, memref<16xi32>, memref<16xi32>) -> ()
  memref.dealloc %a : memref<16xi32>
  linalg.sub ins(%s, %y : memref<16xi32>, memref<16xi32>) outs(%out : memref<16xi32>)
  memref.dealloc %s : memref<16xi32>
  return
}
