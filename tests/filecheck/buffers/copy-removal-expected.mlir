// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal=arguments-overlap=false | FileCheck %s

// Copies that a reader of the program expects to go, then ones that look alike and have to stay.

// Through two buffers.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT:     copy
// CHECK:         return
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// The same again, while it is there.
// CHECK-LABEL: func.func @same_again(
// CHECK-NOT:     copy
// CHECK:         return
func.func @same_again(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// To itself, through views whose types differ.
// CHECK-LABEL: func.func @to_itself(
// CHECK-NOT:     copy
// CHECK:         return
func.func @to_itself(%y: memref<8xf32>) {
  %c4 = arith.constant 4 : index
  %v = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %w = memref.subview %y[%c4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.copy %v, %w : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

// Overwritten before it is read.
// CHECK-LABEL: func.func @refilled(
// CHECK-NOT:     copy
// CHECK:         return
func.func @refilled(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Its only element is stored.
// CHECK-LABEL: func.func @only_element(
// CHECK-NOT:     copy
// CHECK:         return
func.func @only_element(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<1xf32>
  %v = memref.subview %x[0] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1]>>
  memref.copy %v, %a : memref<1xf32, strided<[1]>> to memref<1xf32>
  memref.store %z, %a[%c0] : memref<1xf32>
  %e = memref.load %a[%c0] : memref<1xf32>
  memref.store %e, %y[%c0] : memref<8xf32>
  memref.dealloc %a : memref<1xf32>
  return
}

// -----

// To the stack.
// CHECK-LABEL: func.func @to_the_stack(
// CHECK-NOT:     copy
// CHECK:         return
func.func @to_the_stack(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloca() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

// In a branch, allocated in front of it.
// CHECK-LABEL: func.func @in_a_branch(
// CHECK-NOT:     copy
// CHECK:         return
func.func @in_a_branch(%p: i1, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  scf.if %p {
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  }
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Of a size that is asked of the source.
// CHECK-LABEL: func.func @open_size(
// CHECK-NOT:     copy
// CHECK:         return
func.func @open_size(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.cast %x : memref<8xf32> to memref<?xf32>
  %s = memref.dim %d, %c0 : memref<?xf32>
  %a = memref.alloc(%s) : memref<?xf32>
  linalg.copy ins(%d : memref<?xf32>) outs(%a : memref<?xf32>)
  %o = memref.cast %y : memref<8xf32> to memref<?xf32>
  linalg.exp ins(%a : memref<?xf32>) outs(%o : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

// Twice, and the source is written in between.
// CHECK-LABEL: func.func @source_written(
// CHECK-COUNT-2: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @source_written(%y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Twice, and a part of the target is written in between.
// CHECK-LABEL: func.func @part_written(
// CHECK-COUNT-3: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @part_written(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%v : memref<4xf32, strided<[1], offset: 4>>)
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// There and back, and the source is written in a branch in between.
// CHECK-LABEL: func.func @source_written_in_a_branch(
// CHECK-COUNT-2: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @source_written_in_a_branch(%p: i1, %z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  scf.if %p {
    linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  }
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Twice onto a part of itself, which moves elements on.
// CHECK-LABEL: func.func @onto_a_part(
// CHECK-COUNT-2: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @onto_a_part(%y: memref<8xf32>) {
  %v = memref.subview %y[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %w = memref.subview %y[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  memref.copy %v, %w : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 2>>
  memref.copy %v, %w : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 2>>
  return
}

// -----

// One of its two elements is stored.
// CHECK-LABEL: func.func @one_of_two_elements(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @one_of_two_elements(%z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2xf32>
  %v = memref.subview %x[0] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>>
  memref.copy %v, %a : memref<2xf32, strided<[1]>> to memref<2xf32>
  memref.store %z, %a[%c0] : memref<2xf32>
  %e = memref.load %a[%c0] : memref<2xf32>
  %f = memref.load %a[%c1] : memref<2xf32>
  memref.store %e, %y[%c0] : memref<8xf32>
  memref.store %f, %y[%c1] : memref<8xf32>
  memref.dealloc %a : memref<2xf32>
  return
}

// -----

// To the stack, and the source is written later.
// CHECK-LABEL: func.func @stack_source_written(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @stack_source_written(%z: f32, %y: memref<8xf32>) {
  %a = memref.alloca() : memref<8xf32>
  memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

// In a loop, and read in the next iteration before.
// CHECK-LABEL: func.func @read_in_the_next_iteration(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @read_in_the_next_iteration(%lb: index, %n: index, %step: index, %z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  scf.for %i = %lb to %n step %step {
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
    memref.copy %y, %a : memref<8xf32> to memref<8xf32>
  }
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// In a branch, and read behind it.
// CHECK-LABEL: func.func @read_behind_a_branch(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @read_behind_a_branch(%p: i1, %z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  scf.if %p {
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  }
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// In a loop, and read behind it.
// CHECK-LABEL: func.func @read_behind_a_loop(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @read_behind_a_loop(%lb: index, %n: index, %step: index, %z: f32, %x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  scf.for %i = %lb to %n step %step {
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  }
  linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// In a loop, and the source is written while it is read.
// CHECK-LABEL: func.func @source_written_in_a_loop(
// CHECK-COUNT-1: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @source_written_in_a_loop(%lb: index, %n: index, %step: index, %z: f32, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  scf.for %i = %lb to %n step %step {
    memref.copy %y, %a : memref<8xf32> to memref<8xf32>
    linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
  }
  memref.dealloc %a : memref<8xf32>
  return
}
