// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// Where the source does not serve as the target, by constraint.

// Constraint 1: the target is an argument, and so is the source.
// CHECK:       decision: copy: copied: not-allocated-here, 32 bytes
// CHECK-LABEL: func.func @source_1(
// CHECK:         memref.copy
func.func @source_1(%x: memref<8xf32>, %y: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}

// -----

// Constraint 1: allocated in another block than the copy's.
// CHECK:       decision: copy: copied: not-allocated-here
// CHECK-LABEL: func.func @source_1_block(
// CHECK:         memref.copy
func.func @source_1_block(%c: i1, %z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  scf.if %c {
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  }
  linalg.add ins(%x, %a : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 2: a part of the target was written before.
// CHECK:       decision: copy: copied: touched-between, 32 bytes (memref.copy at {{.*}}, linalg.fill at
// CHECK-LABEL: func.func @source_2(
// CHECK:         memref.copy
func.func @source_2(%z: f32, %x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.add ins(%x, %a : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 3: the target is written, and the source is read after that.
// CHECK:       decision: copy: copied: still-used, 32 bytes (memref.copy at {{.*}}, linalg.exp at
// CHECK-LABEL: func.func @source_3_target_written(
// CHECK:         memref.copy
func.func @source_3_target_written(%x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.add ins(%x, %a : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 3: the source is written while its old value is wanted; a call may write it as well.
// CHECK:       decision: copy: copied: still-used, 32 bytes (memref.copy at {{.*}}, linalg.fill at
// CHECK:       decision: copy: copied: still-used, 32 bytes (memref.copy at {{.*}}, func.call at
// CHECK-LABEL: func.func @source_3_source_written(
// CHECK-COUNT-2: memref.copy
func.func private @f()
func.func @source_3_source_written(%z: f32, %x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %x, %b : memref<8xf32> to memref<8xf32>
  func.call @f() : () -> ()
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Constraint 3 in a loop: what is read in one iteration is written in the one before.
// CHECK:       decision: copy: copied: still-used, 32 bytes
// CHECK-LABEL: func.func @source_3_loop(
// CHECK:         memref.copy
func.func @source_3_loop(%lb: index, %ub: index, %step: index, %z: f32, %x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<8xf32>
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
    linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
    memref.dealloc %a : memref<8xf32>
  }
  return
}

// -----

// Constraint 4: an argument cannot be returned in place of a buffer that the caller owns.
// CHECK:       decision: copy: copied: leaves-scope, 32 bytes (memref.copy at {{.*}}, func.return at
// CHECK-LABEL: func.func @source_4(
// CHECK:         memref.copy
func.func @source_4(%x: memref<8xf32>) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  return %a : memref<8xf32>
}

// -----

// Constraint 4: the deallocation of the source waits for the last use.
// CHECK:       decision: copy: removed: source-reused
// CHECK-LABEL: func.func @source_4_waits(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc()
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    linalg.exp ins([[A]] :
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    return
func.func @source_4_waits(%z: f32, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// Constraint 5: a call has the target, and takes no strides.
// CHECK:       decision: copy: copied: other-type, 16 bytes
// CHECK-LABEL: func.func @source_5(
// CHECK:         memref.copy
func.func private @g(memref<4xf32>)
func.func @source_5(%x: memref<8xf32>) {
  %v = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %a = memref.alloc() : memref<4xf32>
  memref.copy %v, %a : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
  %i = memref.cast %a : memref<4xf32> to memref<?xf32>
  %k = arith.constant 0 : index
  %l = memref.load %i[%k] : memref<?xf32>
  memref.store %l, %x[%k] : memref<8xf32>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// Constraint 3: the payload of an op reads the target, though it is no operand.
// CHECK:       decision: copy: copied: still-used, 32 bytes (memref.copy at {{.*}}, linalg.fill at
// CHECK-LABEL: func.func @source_3_payload(
// CHECK:         memref.copy
#id = affine_map<(i) -> (i)>
func.func @source_3_payload(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %c7 = arith.constant 7 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %e = memref.load %a[%j] : memref<8xf32>
    linalg.yield %e : f32
  }
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 5: the argument need not be aligned as the target is said to be.
// CHECK:       decision: copy: copied: alignment-assumed, 32 bytes (memref.copy at {{.*}}, memref.assume_alignment at
// CHECK-LABEL: func.func @source_5_alignment(
// CHECK:         memref.copy
func.func @source_5_alignment(%x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %b = memref.assume_alignment %a, 64 : memref<8xf32>
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 5: nor as a load of the target says that it is.
// CHECK:       decision: copy: copied: alignment-assumed, 32 bytes (memref.copy at {{.*}}, memref.load at
// CHECK-LABEL: func.func @source_5_alignment_of_a_load(
// CHECK:         memref.copy
func.func @source_5_alignment_of_a_load(%x: memref<8xf32>, %i: index) -> f32 {
  %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %l = memref.load %a[%i] {alignment = 64 : i64} : memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return %l : f32
}

// -----

// Constraint 5: the copy of an argument is shown as floats, and bytes of an argument may begin anywhere.
// CHECK:       decision: copy: copied: alignment-assumed
// CHECK-LABEL: func.func @shown_as_floats(
// CHECK:         memref.copy
func.func @shown_as_floats(%x: memref<16xi8>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<16xi8>
  memref.copy %x, %t : memref<16xi8> to memref<16xi8>
  %v = memref.view %t[%c0][] : memref<16xi8> to memref<4xf32>
  %l = memref.load %v[%i] : memref<4xf32>
  memref.dealloc %t : memref<16xi8>
  return %l : f32
}
