// RUN: %hotdesk-opt %s --split-input-file --hotdesk-compute-late | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-compute-late --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY

// The padded image is read behind the sum alone; what it is made of, the argument, is there anyway. The fill waits with it.
// WHY: result of tensor.insert_slice: reordered: only-read-later, 400 bytes
// CHECK-LABEL: func.func @padded(
// CHECK:         linalg.reduce { arith.addf } ins(%{{.*}} : tensor<8x8xf32>)
// CHECK:         linalg.fill {{.*}} -> tensor<10x10xf32>
// CHECK-NEXT:    [[P:%.*]] = tensor.insert_slice
// CHECK-NEXT:    linalg.reduce { arith.addf } ins([[P]] : tensor<10x10xf32>)
func.func @padded(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<10xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x10xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x10xf32>) -> tensor<10x10xf32>
  %p = tensor.insert_slice %x into %f[1, 1] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<10x10xf32>
  %n = tensor.empty() : tensor<8xf32>
  %m = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %k = tensor.empty() : tensor<10xf32>
  %l = linalg.fill ins(%z : f32) outs(%k : tensor<10xf32>) -> tensor<10xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<10x10xf32>) outs(%l : tensor<10xf32>) dimensions = [0]
  return %s, %t : tensor<8xf32>, tensor<10xf32>
}

// -----

// Waiting would keep %a, which is as large and not read again.
// CHECK-LABEL: func.func @from_what_dies(
// CHECK:         linalg.map { math.exp }
// CHECK-NEXT:    linalg.map { math.tanh }
// CHECK:         linalg.reduce
// CHECK:         linalg.map { arith.addf }
func.func @from_what_dies(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %b = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %m = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// Two that wait in front of the same operation keep their order, and what both of them read waits in front of both.
// CHECK-LABEL: func.func @in_order(
// CHECK:         linalg.reduce
// CHECK:         [[A:%.*]] = linalg.map { math.exp }
// CHECK:         [[B:%.*]] = linalg.map { math.tanh } ins([[A]] : tensor<8xf32>)
// CHECK:         [[C:%.*]] = linalg.map { math.sin } ins([[A]] : tensor<8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[B]], [[C]] : tensor<8xf32>, tensor<8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[A]],
func.func @in_order(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %b = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %c = linalg.map { math.sin } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %m = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %q = linalg.map { arith.addf } ins(%a, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %s, %q, %r : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The reader is a loop, or writes over what is read in between.
// CHECK-LABEL: func.func @for_a_loop(
// CHECK:         linalg.reduce
// CHECK:         linalg.broadcast
// CHECK:         scf.for
// CHECK-LABEL: func.func @overwriting(
// CHECK:         linalg.reduce
// CHECK:         linalg.broadcast
// CHECK-NEXT:    linalg.generic
func.func @for_a_loop(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %y) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%wide, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    scf.yield %next : tensor<8x8xf32>
  }
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}
func.func @overwriting(%x: tensor<8xf32>, %y: tensor<8x8xf32> {hotdesk.donated}) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%wide : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.subf %o, %a : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// The sum is put over %w; a product that waited, and read the old value, would forbid that. It is larger than %w, so that it could
// wait where nobody writes that.
// CHECK-LABEL: func.func @updated(
// CHECK:         "hotdesk.contract"
// CHECK:         linalg.map { math.exp }
// CHECK-LABEL: func.func @not_updated(
// CHECK:         linalg.map { math.exp }
// CHECK:         "hotdesk.contract"
func.func @updated(%x: tensor<16x8xf32>, %w: tensor<8x8xf32> {hotdesk.donated}, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %l = tensor.empty() : tensor<16x8xf32>
  %a = "hotdesk.contract"(%x, %w, %l) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<16x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %b = linalg.map { math.exp } ins(%y : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %u = linalg.map { arith.addf } ins(%w, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { math.tanh } ins(%a : tensor<16x8xf32>) outs(%l : tensor<16x8xf32>)
  return %u, %r : tensor<8x8xf32>, tensor<16x8xf32>
}
func.func @not_updated(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %l = tensor.empty() : tensor<16x8xf32>
  %a = "hotdesk.contract"(%x, %w, %l) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<16x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %b = linalg.map { math.exp } ins(%y : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %u = linalg.map { arith.addf } ins(%w, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { math.tanh } ins(%a : tensor<16x8xf32>) outs(%l : tensor<16x8xf32>)
  return %u, %r : tensor<8x8xf32>, tensor<16x8xf32>
}

// -----

// Views wait with what they show; what is returned does not.
// CHECK-LABEL: func.func @views(
// CHECK:         linalg.reduce
// CHECK:         linalg.broadcast
// CHECK-NEXT:    tensor.extract_slice
// CHECK-LABEL: func.func @returned(
// CHECK:         linalg.broadcast
// CHECK:         linalg.reduce
func.func @views(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %w = tensor.extract_slice %wide[2, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %r = tensor.insert_slice %w into %y[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}
func.func @returned(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  return %wide, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Checks, and calls on values, are crossed.
// CHECK-LABEL: func.func @crossed(
// CHECK:         call @seen
// CHECK:         cf.assert
// CHECK:         linalg.reduce
// CHECK:         linalg.broadcast
func.func private @seen(tensor<8xf32>) -> tensor<8xf32>
func.func @crossed(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %p: i1) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %q = call @seen(%x) : (tensor<8xf32>) -> tensor<8xf32>
  cf.assert %p, "not ok"
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%wide, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Nothing crosses what works on memory, where a tensor may lie, or what is not known.
// CHECK-LABEL: func.func @behind_a_store(
// CHECK:         linalg.broadcast
// CHECK:         memref.store
// CHECK-LABEL: func.func @behind_unknown(
// CHECK:         linalg.broadcast
// CHECK:         shape.const_size
func.func @behind_a_store(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %m: memref<f32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  memref.store %z, %m[] : memref<f32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%wide, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}
func.func @behind_unknown(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %q = shape.const_size 3
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%wide, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// A loop waits, but for one that calls: the order of calls is kept.
// CHECK-LABEL: func.func @loop_waits(
// CHECK:         linalg.reduce
// CHECK:         scf.for
// CHECK-LABEL: func.func @loop_that_calls(
// CHECK:         scf.for
// CHECK:         linalg.reduce
func.func private @seen(tensor<8xf32>) -> tensor<8xf32>
func.func @loop_waits(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %y) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%wide, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    scf.yield %next : tensor<8x8xf32>
  }
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %b = linalg.map { arith.addf } ins(%wide, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %b, %s : tensor<8x8xf32>, tensor<8xf32>
}
func.func @loop_that_calls(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %y) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%wide, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    %q = func.call @seen(%x) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %b = linalg.map { arith.addf } ins(%wide, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %b, %s : tensor<8x8xf32>, tensor<8xf32>
}
