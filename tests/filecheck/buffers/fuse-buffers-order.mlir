// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fuse-buffers --print-decisions 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// Two ops that write one buffer keep their order; the reader goes to the second one.
// CHECK:       decision: result of linalg.generic: fused: read-as-written
// CHECK-LABEL: func.func @two_writers(
// CHECK-SAME:    {{%.*}}: memref<4xf32>, [[A:%.*]]: memref<4xf32> {llvm.noalias}, [[R:%.*]]: memref<4xf32> {llvm.noalias})
// CHECK:         linalg.generic {{.*}} outs([[A]] :
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} outs([[A]], [[R]] :
// CHECK:           math.sin
// CHECK-NEXT:      math.sqrt
func.func @two_writers(%x: memref<4xf32>, %a: memref<4xf32> {llvm.noalias}, %r: memref<4xf32> {llvm.noalias}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sin %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// The second writer takes a part only, so the reader cannot go to it, and the first cannot move past it.
// CHECK:       decision: result of linalg.generic: not fused: may-overlap, 8 bytes (memref.subview [1] [2] [1] at {{.*}}, argument 1 at
// CHECK:       decision: result of linalg.generic: not fused: touched-between, 16 bytes (linalg.generic at
// CHECK-LABEL: func.func @part(
// CHECK-COUNT-3: linalg.generic
func.func @part(%x: memref<2xf32> {llvm.noalias}, %a: memref<4xf32> {llvm.noalias}, %r: memref<4xf32> {llvm.noalias}, %y: memref<4xf32>) {
  %v = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<2xf32>) outs(%v : memref<2xf32, strided<[1], offset: 1>>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sin %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 4: loads, stores and calls between the two.
// CHECK:       decision: result of linalg.generic: not fused: touched-between, 16 bytes (memref.store at
// CHECK:       decision: result of linalg.generic: not fused: touched-between, 16 bytes (func.call at
// CHECK:       decision: result of linalg.generic: fused: single-reader
// CHECK-LABEL: func.func @stored(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @called(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @loaded(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @stored(%x: memref<4xf32>, %r: memref<4xf32>, %i: index, %s: f32) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  memref.store %s, %x[%i] : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}
func.func private @other()
func.func @called(%x: memref<4xf32>, %r: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  call @other() : () -> ()
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}
func.func @loaded(%x: memref<4xf32>, %r: memref<4xf32> {llvm.noalias}, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  %s = memref.load %x[%i] : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return %s : f32
}

// -----

#id = affine_map<(i) -> (i)>

// Rule 5: a payload that loads what the other op writes, or what nobody writes.
// CHECK:       decision: result of linalg.generic: not fused: may-overlap, 16 bytes (memref.alloc at {{.*}}, memref.alloc at
// CHECK:       decision: result of linalg.generic: fused: read-as-written
// CHECK-LABEL: func.func @loads_it(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @loads_another(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @loads_it(%x: memref<4xf32>, %r: memref<4xf32> {llvm.noalias}, %t: memref<4xf32> {llvm.noalias}, %n: index) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %l = memref.load %a[%n] : memref<4xf32>
    %u = arith.addf %p, %l : f32
    linalg.yield %u : f32
  }
  return
}
func.func @loads_another(%x: memref<4xf32>, %r: memref<4xf32> {llvm.noalias}, %t: memref<4xf32> {llvm.noalias}, %n: index) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %l = memref.load %t[%n] : memref<4xf32>
    %u = arith.addf %p, %l : f32
    linalg.yield %u : f32
  }
  memref.copy %a, %t : memref<4xf32> to memref<4xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Rules 1, 2 and 6: a sum is no element; another order of elements; a sum of what stays in memory, and of what does not.
// CHECK:       decision: result of linalg.generic: not fused: producer-reduces
// CHECK:       decision: result of linalg.generic: not fused: not-a-permutation
// CHECK:       decision: result of linalg.generic: not fused: accumulated-into
// CHECK:       decision: result of linalg.generic: fused: single-reader
// CHECK-LABEL: func.func @of_a_sum(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @diagonal(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @sum_kept(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @sum_private(
// CHECK:         linalg.generic {{.*}}"parallel", "reduction"{{.*}} outs(%{{[^ ]*}} : memref<4xf32>)
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#diagonal = affine_map<(i) -> (i, i)>
func.func @of_a_sum(%x: memref<4x3xf32>, %r: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x3xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.addf %p, %o : f32
    linalg.yield %u : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}
func.func @diagonal(%x: memref<4x4xf32>, %r: memref<4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = math.exp %p : f32
    linalg.yield %u : f32
  }
  linalg.generic {indexing_maps = [#diagonal, #id], iterator_types = ["parallel"]} ins(%a : memref<4x4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = math.sqrt %p : f32
    linalg.yield %u : f32
  }
  return
}
func.func @sum_kept(%x: memref<4x3xf32>, %r: memref<4xf32> {llvm.noalias}, %a: memref<4x3xf32> {llvm.noalias}) {
  linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x3xf32>) outs(%a : memref<4x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = math.exp %p : f32
    linalg.yield %u : f32
  }
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x3xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.addf %p, %o : f32
    linalg.yield %u : f32
  }
  return
}
func.func @sum_private(%x: memref<4x3xf32>, %r: memref<4xf32> {llvm.noalias}) {
  %a = memref.alloc() : memref<4x3xf32>
  linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x3xf32>) outs(%a : memref<4x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = math.exp %p : f32
    linalg.yield %u : f32
  }
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x3xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.addf %p, %o : f32
    linalg.yield %u : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// No elements (then nothing is read), no dimensions, sizes that vary; functions without ops.
// CHECK-LABEL: func.func @small(
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.sqrt
// CHECK-COUNT-1: linalg.generic
// CHECK:           math.exp
// CHECK-NEXT:      math.sqrt
// CHECK-COUNT-1: linalg.generic
// CHECK:           math.exp
// CHECK-NEXT:      math.sqrt
#point = affine_map<() -> ()>
func.func @small(%x: memref<0xf32>, %r: memref<0xf32>, %y: memref<f32>, %s: memref<f32> {llvm.noalias}, %z: memref<?xf32>, %t: memref<?xf32> {llvm.noalias}, %n: index) {
  %a = memref.alloc() : memref<0xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<0xf32>) outs(%a : memref<0xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<0xf32>) outs(%r : memref<0xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  %b = memref.alloc() : memref<f32>
  linalg.generic {indexing_maps = [#point, #point], iterator_types = []}
      ins(%y : memref<f32>) outs(%b : memref<f32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#point, #point], iterator_types = []}
      ins(%b : memref<f32>) outs(%s : memref<f32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  %c = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%z : memref<?xf32>) outs(%c : memref<?xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.exp %a0 : f32
    linalg.yield %k : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : memref<?xf32>) outs(%t : memref<?xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = math.sqrt %a0 : f32
    linalg.yield %k : f32
  }
  return
}
func.func @nothing() {
  return
}
func.func private @elsewhere(memref<4xf32>)
