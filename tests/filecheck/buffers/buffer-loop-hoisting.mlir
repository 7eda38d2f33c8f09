// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-loop-hoisting --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-loop-hoisting --hotdesk-promote-buffers-to-stack | FileCheck %s --check-prefix=BOTH

// Out of both loops, with its deallocation.
// CHECK:       decision: allocation: moved: serves-every-iteration, 8 bytes
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        linalg.map
// CHECK-NEXT:        memref.copy
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    return
func.func @nested(%lb: index, %ub: index, %step: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  scf.for %i = %lb to %ub step %step {
    scf.for %j = %lb to %ub step %step {
      %a = memref.alloc() : memref<2xf32>
      linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%a : memref<2xf32>)
      memref.copy %a, %out : memref<2xf32> to memref<2xf32>
      memref.dealloc %a : memref<2xf32>
    }
  }
  return
}

// -----

// Rule 1: out of the loop that does not make the size; the loop may run no time, and then the size may be anything.
// CHECK:       decision: allocation: moved: serves-every-iteration
// CHECK:       decision: allocation: allocated: size-defined-below, 4*(argument 0 ({{.*}})) bytes (memref.alloc at {{.*}}, block argument)
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    [[N:%[^ ]*]]: index, %
// CHECK:         scf.for [[I:%.*]] =
// CHECK:           [[M:%.*]] = arith.maxsi [[I]], %
// CHECK-NEXT:      memref.alloc([[M]])
// CHECK-NEXT:      scf.for [[J:%.*]] =
// CHECK-NEXT:        linalg.fill
// CHECK-NEXT:        memref.alloc([[J]])
func.func @sizes(%n: index, %lb: index, %ub: index, %step: index, %z: f32) {
  scf.for %i = %lb to %ub step %step {
    scf.for %j = %lb to %ub step %step {
      %a = memref.alloc(%i) : memref<?xf32>
      linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
      %b = memref.alloc(%j) : memref<?xf32>
      linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
    }
  }
  return
}

// -----

// Rule 2.
// CHECK:       decision: allocation: allocated: kept-between-iterations, 8 bytes (memref.alloc at {{.*}}, scf.for at
// CHECK-LABEL: func.func @carried(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func @carried(%lb: index, %ub: index, %step: index, %x: memref<2xf32>, %out: memref<2xf32>) {
  %r = scf.for %i = %lb to %ub step %step iter_args(%b = %x) -> memref<2xf32> {
    %a = memref.alloc() : memref<2xf32>
    linalg.map { math.exp } ins(%b : memref<2xf32>) outs(%a : memref<2xf32>)
    scf.yield %a : memref<2xf32>
  }
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// Rule 3.
// CHECK:       decision: allocation: allocated: parallel-iterations, 8 bytes (memref.alloc at {{.*}}, scf.parallel at
// CHECK:       decision: allocation: allocated: parallel-iterations, 8 bytes (memref.alloc at {{.*}}, scf.forall at
// CHECK-LABEL: func.func @parallel(
// CHECK:         scf.parallel
// CHECK-NEXT:      memref.alloc
// CHECK:         scf.forall
// CHECK-NEXT:      memref.alloc
func.func @parallel(%lb: index, %ub: index, %step: index, %z: f32) {
  scf.parallel (%i) = (%lb) to (%ub) step (%step) {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
  }
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
  }
  return
}

// -----

// Rule 4: what a pointer of the first iteration is good for in the second one, nobody knows.
// CHECK:       decision: allocation: allocated: kept-by-unknown, 8 bytes (memref.alloc at {{.*}}, memref.extract_aligned_pointer_as_index at
// CHECK-LABEL: func.func @kept(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func private @keep(index)
func.func @kept(%lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<2xf32>
    %p = memref.extract_aligned_pointer_as_index %a : memref<2xf32> -> index
    func.call @keep(%p) : (index) -> ()
  }
  return
}

// -----

// A branch stays around what it alone needs; the stack is given back as well as the heap; `scf.while` is a loop.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    [[S:%.*]] = memref.alloca() : memref<2xf32>
// CHECK-NEXT:    scf.for
// CHECK:           scf.if
// CHECK-NEXT:        memref.alloc()
// CHECK:         [[W:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    scf.while
func.func @others(%c: i1, %lb: index, %ub: index, %step: index, %z: f32) {
  scf.for %i = %lb to %ub step %step {
    %s = memref.alloca() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%s : memref<2xf32>)
    scf.if %c {
      %a = memref.alloc() : memref<3xf32>
      linalg.fill ins(%z : f32) outs(%a : memref<3xf32>)
    }
  }
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    %a = memref.alloc() : memref<4xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<4xf32>)
    scf.yield
  }
  return
}

// -----

// Freed in another place than its own block: it stays.
// CHECK:       decision: allocation: allocated: freed-elsewhere, 8 bytes (memref.alloc at {{.*}}, memref.dealloc at
// CHECK-LABEL: func.func @freed_in_a_branch(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func @freed_in_a_branch(%c: i1, %lb: index, %ub: index, %step: index, %z: f32) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
    scf.if %c {
      memref.dealloc %a : memref<2xf32>
    } else {
      memref.dealloc %a : memref<2xf32>
    }
  }
  return
}

// -----

// One of a size that the function is given, and one that the stack has room for: both out of both loops.
// CHECK-LABEL: func.func @given_sizes(
// CHECK-COUNT-2: memref.alloc(
// CHECK:         scf.for
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK:           linalg.exp
// CHECK-COUNT-2: memref.dealloc
// CHECK-NEXT:    return
// BOTH-LABEL:  func.func @given_sizes(
// BOTH-DAG:      memref.alloc(%{{.*}}) : memref<?xf32>
// BOTH-DAG:      memref.alloca() {{.*}}: memref<2xf32>
// BOTH:          scf.for
// BOTH-COUNT-1:  memref.dealloc
// BOTH-NOT:      memref.dealloc
func.func @given_sizes(%n: index, %lb: index, %ub: index, %step: index, %z: f32, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  scf.for %i = %lb to %ub step %step {
    scf.for %j = %lb to %ub step %step {
      %a = memref.alloc() : memref<2xf32>
      %b = memref.alloc(%n) : memref<?xf32>
      linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
      %y = memref.load %b[%c0] : memref<?xf32>
      linalg.fill ins(%y : f32) outs(%a : memref<2xf32>)
      linalg.exp ins(%a : memref<2xf32>) outs(%out : memref<2xf32>)
      memref.dealloc %b : memref<?xf32>
      memref.dealloc %a : memref<2xf32>
    }
  }
  return
}
