// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s

// The copy, the definition of the target and the deallocation of the source share a block; the source may come from
// anywhere, since whoever frees it here says that nobody uses it any more.

// The source is made in a block in front.
// CHECK:       decision: copy: removed: source-reused, 8 bytes
// CHECK-LABEL: func.func @branch(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:       ^bb1:
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK:       ^bb2:
// CHECK-NEXT:    cf.br ^bb3([[A]] :
func.func @branch(%c: i1, %f: f32) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  linalg.fill ins(%f : f32) outs(%0 : memref<2xf32>)
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  memref.dealloc %0 : memref<2xf32>
  %1 = memref.alloc() : memref<2xf32>
  linalg.fill ins(%f : f32) outs(%1 : memref<2xf32>)
  cf.br ^bb3(%1 : memref<2xf32>)
^bb2:
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  memref.dealloc %0 : memref<2xf32>
  cf.br ^bb3(%2 : memref<2xf32>)
^bb3(%3: memref<2xf32>):
  return %3 : memref<2xf32>
}

// -----

// It is what a call returns.
// CHECK:       decision: copy: removed: source-reused, 8 bytes
// CHECK-LABEL: func.func @call(
// CHECK-NEXT:    [[R:%.*]] = call @ext(
// CHECK-NEXT:    return [[R]]
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @call(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  memref.dealloc %0 : memref<2xf32>
  return %2 : memref<2xf32>
}

// -----

// From an argument through a buffer to another argument: should they be one, the copy left copies each element to itself.
// CHECK-LABEL: func.func @xto(
// CHECK-NEXT:    memref.copy %arg0, %arg1
// CHECK-NEXT:    return
func.func @xto(%x: memref<8xf32>, %o: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// It is an argument of a block, which two blocks pass on.
// CHECK:       decision: copy: removed: source-reused, 8 bytes
// CHECK-LABEL: func.func @block_argument(
// CHECK:       ^bb3([[A:%.*]]: memref<2xf32>):
// CHECK-NEXT:    linalg.exp ins([[A]] : {{.*}} outs([[A]] :
// CHECK-NEXT:    return [[A]]
func.func @block_argument(%c: i1, %f: f32, %g: f32) -> memref<2xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = memref.alloc() : memref<2xf32>
  linalg.fill ins(%f : f32) outs(%0 : memref<2xf32>)
  cf.br ^bb3(%0 : memref<2xf32>)
^bb2:
  %1 = memref.alloc() : memref<2xf32>
  linalg.fill ins(%g : f32) outs(%1 : memref<2xf32>)
  cf.br ^bb3(%1 : memref<2xf32>)
^bb3(%2: memref<2xf32>):
  %3 = memref.alloc() : memref<2xf32>
  memref.copy %2, %3 : memref<2xf32> to memref<2xf32>
  memref.dealloc %2 : memref<2xf32>
  linalg.exp ins(%3 : memref<2xf32>) outs(%3 : memref<2xf32>)
  return %3 : memref<2xf32>
}

// -----

// It is a result of an scf op; and what goes round a loop.
// CHECK-COUNT-2: decision: copy: removed: source-reused, 8 bytes
// CHECK-LABEL: func.func @scf_results(
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[U:%.*]] = %{{.*}}) -> (memref<2xf32>) {
// CHECK-NEXT:      linalg.exp ins([[U]] : {{.*}} outs([[U]] :
// CHECK-NEXT:      scf.yield [[U]]
// CHECK:         linalg.exp ins([[R]] :
// CHECK-NEXT:    memref.dealloc [[R]]
func.func @scf_results(%c: i1, %n: index, %f: f32, %g: f32, %o: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %c -> memref<2xf32> {
    %1 = memref.alloc() : memref<2xf32>
    linalg.fill ins(%f : f32) outs(%1 : memref<2xf32>)
    scf.yield %1 : memref<2xf32>
  } else {
    %2 = memref.alloc() : memref<2xf32>
    linalg.fill ins(%g : f32) outs(%2 : memref<2xf32>)
    scf.yield %2 : memref<2xf32>
  }
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %0) -> memref<2xf32> {
    %4 = memref.alloc() : memref<2xf32>
    memref.copy %u, %4 : memref<2xf32> to memref<2xf32>
    memref.dealloc %u : memref<2xf32>
    linalg.exp ins(%4 : memref<2xf32>) outs(%4 : memref<2xf32>)
    scf.yield %4 : memref<2xf32>
  }
  %5 = memref.alloc() : memref<2xf32>
  memref.copy %3, %5 : memref<2xf32> to memref<2xf32>
  memref.dealloc %3 : memref<2xf32>
  linalg.exp ins(%5 : memref<2xf32>) outs(%o : memref<2xf32>)
  memref.dealloc %5 : memref<2xf32>
  return
}

// -----

// Nothing frees the target, which is on the stack: the source's deallocation waits for its last use.
// CHECK:       decision: copy: removed: source-reused, 8 bytes
// CHECK-LABEL: func.func @waits(
// CHECK:         [[R:%.*]] = call @ext(
// CHECK-NEXT:    linalg.exp ins([[R]] :
// CHECK-NEXT:    memref.dealloc [[R]]
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @waits(%x: memref<2xf32>, %o: memref<2xf32>) {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %2 = memref.alloca() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  memref.dealloc %0 : memref<2xf32>
  linalg.exp ins(%2 : memref<2xf32>) outs(%o : memref<2xf32>)
  return
}

// -----

// Not a constraint of the seed, but of what the words mean: constraint 3, the source is written before it is freed.
// CHECK:       decision: copy: copied: still-used, 8 bytes (memref.copy at {{.*}}, linalg.fill at
// CHECK-LABEL: func.func @source_written(
// CHECK:         memref.copy
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @source_written(%x: memref<2xf32>, %f: f32, %o: memref<2xf32>) -> memref<2xf32> {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  linalg.fill ins(%f : f32) outs(%0 : memref<2xf32>)
  linalg.exp ins(%0 : memref<2xf32>) outs(%o : memref<2xf32>)
  memref.dealloc %0 : memref<2xf32>
  return %2 : memref<2xf32>
}

// -----

// Constraint 3: the target is written, and the source is read after that.
// CHECK:       decision: copy: copied: still-used, 8 bytes (memref.copy at {{.*}}, linalg.exp at
// CHECK-LABEL: func.func @target_written(
// CHECK:         memref.copy
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @target_written(%x: memref<2xf32>, %f: f32, %o: memref<2xf32>) -> memref<2xf32> {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  linalg.exp ins(%2 : memref<2xf32>) outs(%2 : memref<2xf32>)
  linalg.exp ins(%0 : memref<2xf32>) outs(%o : memref<2xf32>)
  memref.dealloc %0 : memref<2xf32>
  return %2 : memref<2xf32>
}

// -----

// Constraint 4: the source is freed on one path only, so the block of the copy does not say that nobody uses it.
// CHECK:       decision: copy: copied: leaves-scope, 8 bytes
// CHECK-LABEL: func.func @freed_in_a_branch(
// CHECK:         memref.copy
func.func private @ext(memref<2xf32>) -> memref<2xf32>
func.func @freed_in_a_branch(%c: i1, %x: memref<2xf32>, %o: memref<2xf32>) -> memref<2xf32> {
  %0 = call @ext(%x) : (memref<2xf32>) -> memref<2xf32>
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %0, %2 : memref<2xf32> to memref<2xf32>
  scf.if %c {
    memref.dealloc %0 : memref<2xf32>
  } else {
    linalg.exp ins(%0 : memref<2xf32>) outs(%o : memref<2xf32>)
    memref.dealloc %0 : memref<2xf32>
  }
  return %2 : memref<2xf32>
}

// -----

// Constraint 3 of a copy through a buffer: the buffer is read again, when the other argument, which may be %x, is overwritten.
// CHECK-LABEL: func.func @read_again(
// CHECK-COUNT-2: memref.copy
func.func @read_again(%x: memref<8xf32>, %o: memref<8xf32>, %p: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%o : memref<8xf32>)
  memref.copy %a, %p : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Constraint 3: the last op reads other elements than it writes.
// CHECK:       decision: copy: copied: still-used, 64 bytes (memref.copy at {{.*}}, linalg.transpose at
// CHECK-LABEL: func.func @transposed(
// CHECK:         memref.copy
func.func @transposed(%x: memref<4x4xf32>, %o: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  memref.copy %x, %a : memref<4x4xf32> to memref<4x4xf32>
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%o : memref<4x4xf32>) permutation = [1, 0]
  memref.dealloc %a : memref<4x4xf32>
  return
}

// -----

// Constraint 5: what the caller gets has no gaps, and the source begins inside its buffer.
// CHECK:       decision: copy: copied: other-type, 8 bytes
// CHECK-LABEL: func.func @strided(
// CHECK:         memref.copy
func.func private @part() -> memref<2xf32, strided<[2]>>
func.func @strided(%x: memref<2xf32, strided<[2]>>) -> memref<2xf32> {
  %2 = memref.alloc() : memref<2xf32>
  memref.copy %x, %2 : memref<2xf32, strided<[2]>> to memref<2xf32>
  memref.dealloc %x : memref<2xf32, strided<[2]>>
  return %2 : memref<2xf32>
}

// -----

// What is freed shows other sizes than what is returned: a cast is.
// CHECK:       decision: copy: removed: source-reused, 16 bytes
// CHECK-LABEL: func.func @returned_with_its_size(
// CHECK:         %[[S:.*]] = call @made(
// CHECK-NEXT:    %[[T:.*]] = memref.cast %[[S]] : memref<?xf32> to memref<4xf32>
// CHECK-NEXT:    return %[[T]]
func.func @returned_with_its_size(%f: f32) -> memref<4xf32> {
  %s = call @made(%f) : (f32) -> memref<?xf32>
  %t = memref.alloc() : memref<4xf32>
  memref.copy %s, %t : memref<?xf32> to memref<4xf32>
  memref.dealloc %s : memref<?xf32>
  return %t : memref<4xf32>
}
func.func private @made(%f: f32) -> memref<?xf32> {
  %c4 = arith.constant 4 : index
  %s = memref.alloc(%c4) : memref<?xf32>
  linalg.fill ins(%f : f32) outs(%s : memref<?xf32>)
  return %s : memref<?xf32>
}

// -----

// CHECK:       decision: copy: removed: source-reused, 16 bytes
// CHECK-LABEL: func.func @cast_in_front_of_branches(
// CHECK-SAME:    %[[S:.*]]: memref<4xf32>, %[[O:.*]]: memref<?xf32>, %[[C:.*]]: i1)
// CHECK-NOT:     memref.copy
// CHECK:         %[[T:.*]] = memref.cast %[[S]] : memref<4xf32> to memref<?xf32>
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[A:.*]](%[[T]] : memref<?xf32>), ^[[B:.*]]
// CHECK:       ^[[A]](%[[P:.*]]: memref<?xf32>):
// CHECK-NEXT:    linalg.exp ins(%[[P]] : memref<?xf32>) outs(%[[O]] : memref<?xf32>)
// CHECK-NEXT:    memref.dealloc %[[P]]
// CHECK:       ^[[B]]:
// CHECK-NEXT:    linalg.abs ins(%[[T]] : memref<?xf32>) outs(%[[O]] : memref<?xf32>)
// CHECK-NEXT:    memref.dealloc %[[S]]
func.func @cast_in_front_of_branches(%s: memref<4xf32>, %o: memref<?xf32>, %c: i1) {
  %c4 = arith.constant 4 : index
  %t = memref.alloc(%c4) : memref<?xf32>
  memref.copy %s, %t : memref<4xf32> to memref<?xf32>
  memref.dealloc %s : memref<4xf32>
  cf.cond_br %c, ^bb1(%t : memref<?xf32>), ^bb2
^bb1(%p: memref<?xf32>):
  linalg.exp ins(%p : memref<?xf32>) outs(%o : memref<?xf32>)
  memref.dealloc %p : memref<?xf32>
  cf.br ^bb3
^bb2:
  linalg.abs ins(%t : memref<?xf32>) outs(%o : memref<?xf32>)
  memref.dealloc %t : memref<?xf32>
  cf.br ^bb3
^bb3:
  return
}
