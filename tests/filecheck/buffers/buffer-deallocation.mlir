// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// Right after the op that reads it last, not at the end; arguments are never freed.
// CHECK-LABEL: func.func @sqrt_then_add(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         linalg.map { arith.addf }
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    linalg.map { math.exp }
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @sqrt_then_add(%x: memref<8xf32>, %y: memref<8xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.map { arith.addf } ins(%a, %y : memref<8xf32>, memref<8xf32>) outs(%out : memref<8xf32>)
  linalg.map { math.exp } ins(%y : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

// Rule 1: the last use of any alias.
// CHECK-LABEL: func.func @views_keep_it(
// CHECK:         [[A:%.*]] = memref.alloc() : memref<8xf32>
// CHECK:         [[B:%.*]] = memref.alloc() : memref<2x2xf32>
// CHECK-NEXT:    linalg.map { math.exp }
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK:         linalg.map { math.exp }
// CHECK-NEXT:    memref.dealloc [[B]]
func.func @views_keep_it(%x: memref<8xf32>, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %w = memref.expand_shape %v [[0, 1]] output_shape [2, 2] : memref<4xf32, strided<[1], offset: 4>> into memref<2x2xf32, strided<[2, 1], offset: 4>>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %b = memref.alloc() : memref<2x2xf32>
  linalg.map { math.exp } ins(%w : memref<2x2xf32, strided<[2, 1], offset: 4>>) outs(%b : memref<2x2xf32>)
  %c = memref.collapse_shape %b [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  linalg.map { math.exp } ins(%c : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @before_later_allocations(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[B:%.*]] = memref.alloc()
// CHECK:         memref.dealloc [[A]]
// CHECK-NEXT:    [[C:%.*]] = memref.alloc()
// CHECK:         memref.dealloc [[B]]
// CHECK:         memref.dealloc [[C]]
// CHECK-NEXT:    return
func.func @before_later_allocations(%x: memref<8xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %b = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  %c = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%b : memref<8xf32>) outs(%c : memref<8xf32>)
  linalg.map { math.sqrt } ins(%c : memref<8xf32>) outs(%out : memref<8xf32>)
  return
}

// -----

// Rule 2: what nothing touches is erased, with views of it and questions about its size.
// CHECK-LABEL: func.func @unused(
// CHECK-SAME:    [[N:%.*]]: index,
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.dim
// CHECK:         memref.subview {{%.*}}[0] [[[N]]] [1]
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @unused(%n: index, %out: memref<?xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %d = memref.dim %a, %i : memref<?xf32>
  %v = memref.subview %a[0] [%d] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %w = memref.subview %out[0] [%d] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%w : memref<?xf32, strided<[1]>>)
  return
}

// -----

// An op touches what its region reads.
// CHECK-LABEL: func.func @captured(
// CHECK:           linalg.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc
func.func @captured(%at: memref<4xindex>, %x: memref<16xf32>, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.map { math.sqrt } ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<4xindex>) outs(%out : memref<4xf32>) {
  ^bb0(%i: index, %o: f32):
    %t = memref.load %a[%i] : memref<16xf32>
    linalg.yield %t : f32
  }
  return
}

// -----

// A scalar is a value: once it is loaded, the buffer is not needed for it.
// CHECK-LABEL: func.func @scalar(
// CHECK:         memref.load
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    linalg.map { math.exp }
// CHECK-NEXT:    linalg.fill
func.func @scalar(%x: memref<8xf32>, %out: memref<8xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %s = memref.load %a[%i] : memref<8xf32>
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  linalg.fill ins(%s : f32) outs(%out : memref<8xf32>)
  return
}

// -----

// Rule 3: globals, and what is returned.
// CHECK-LABEL: func.func @not_ours(
// CHECK-NOT:     memref.dealloc
// CHECK:         return
memref.global "private" constant @c : memref<8xf32> = dense<1.0>
func.func @not_ours(%x: memref<8xf32>, %out: memref<8xf32>) -> memref<8xf32> {
  %c = memref.get_global @c : memref<8xf32>
  %a = memref.alloc() : memref<8xf32>
  linalg.map { arith.addf } ins(%x, %c : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%out : memref<8xf32>)
  return %a : memref<8xf32>
}

// -----

// Rule 4: a buffer is freed once.
// CHECK-LABEL: func.func @freed_already(
// CHECK:         linalg.map { math.sqrt }
// CHECK-NEXT:    linalg.map { math.sqrt }
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    linalg.map { math.exp }
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @freed_already(%x: memref<8xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.map { math.sqrt } ins(%a : memref<8xf32>) outs(%out : memref<8xf32>)
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}
