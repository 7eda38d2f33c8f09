// RUN: %hotdesk-opt %s --split-input-file --hotdesk-hoist-invariants="least-saved=64" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-hoist-invariants="least-saved=64" --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY

// WHY: values that linalg.generic repeats: allocated: computed-once, 96 bytes
#whole = affine_map<(c, i, j) -> (c, i, j)>
#pixel = affine_map<(c, i, j) -> (0, i, j)>

// What channels share is computed once, in the shape of the input that it is computed from, and can overwrite that.
// CHECK-LABEL: func.func @of_pixels(
// CHECK-SAME:    [[X:%.*]]: tensor<8x4x6xf32>, {{%.*}}: tensor<1x4x6xf32>
// CHECK:         [[S:%.*]] = linalg.exp
// CHECK:         [[L:%.*]] = linalg.generic {{.*}} ins([[S]] : tensor<1x4x6xf32>) outs({{.*}} : tensor<1x4x6xf32>)
// CHECK:           math.log
// CHECK:         linalg.generic {{.*}} ins([[X]], [[L]] : tensor<8x4x6xf32>, tensor<1x4x6xf32>)
// CHECK-NOT:       math.log
// CHECK:         return
func.func @of_pixels(%x: tensor<8x4x6xf32>, %t: tensor<1x4x6xf32>) -> tensor<8x4x6xf32> {
  %d = tensor.empty() : tensor<1x4x6xf32>
  %s = linalg.exp ins(%t : tensor<1x4x6xf32>) outs(%d : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %e = tensor.empty() : tensor<8x4x6xf32>
  %y = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<8x4x6xf32>, tensor<1x4x6xf32>) outs(%e : tensor<8x4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x4x6xf32>
  return %y : tensor<8x4x6xf32>
}

// -----

// A loop that sums takes what it repeats from outside, too.
// CHECK-LABEL: func.func @summed(
// CHECK:         [[L:%.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4x6xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]{{.*}} ins({{.*}}, [[L]] :
// CHECK-NOT:       math.exp
// CHECK:         return
#whole = affine_map<(c, i, j) -> (c, i, j)>
#sums = affine_map<(c, i, j) -> (i, j)>
#along = affine_map<(c, i, j) -> (j)>
func.func @summed(%x: tensor<8x4x6xf32>, %t: tensor<4x6xf32>, %v: tensor<6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %u = linalg.sqrt ins(%t : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [#whole, #sums, #along, #sums], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %u, %v : tensor<8x4x6xf32>, tensor<4x6xf32>, tensor<6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.mulf %b, %c : f32
    %l = math.exp %d : f32
    %p = arith.mulf %a, %l : f32
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// What is the same in the innermost loop stays, little work, and what is repeated less.
// CHECK-LABEL: func.func @stay(
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     linalg.generic
#whole = affine_map<(c, i) -> (c, i)>
#row = affine_map<(c, i) -> (c)>
#pixel = affine_map<(c, i) -> (i)>
func.func @stay(%x: tensor<8x12xf32>, %m: tensor<8xf32>, %s: tensor<12xf32>, %w: tensor<4x24xf32>, %t: tensor<24xf32>)
    -> (tensor<8x12xf32>, tensor<8x12xf32>, tensor<4x24xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %a = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x12xf32>, tensor<8xf32>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %l = math.log %q : f32
    %r = arith.subf %p, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x12xf32>
  %b = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x12xf32>, tensor<12xf32>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %l = arith.mulf %q, %q : f32
    %r = arith.subf %p, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x12xf32>
  %f = tensor.empty() : tensor<4x24xf32>
  %c = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%w, %t : tensor<4x24xf32>, tensor<24xf32>) outs(%f : tensor<4x24xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %l = math.log %q : f32
    %r = arith.subf %p, %l : f32
    linalg.yield %r : f32
  } -> tensor<4x24xf32>
  return %a, %b, %c : tensor<8x12xf32>, tensor<8x12xf32>, tensor<4x24xf32>
}

// -----

// What would take more memory stays: what is computed from an argument, which has its memory still.
// CHECK-LABEL: func.func @of_an_argument(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#whole = affine_map<(c, i) -> (c, i)>
#pixel = affine_map<(c, i) -> (i)>
func.func @of_an_argument(%x: tensor<8x24xf32>, %s: tensor<24xf32>) -> tensor<8x24xf32> {
  %e = tensor.empty() : tensor<8x24xf32>
  %y = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x24xf32>, tensor<24xf32>) outs(%e : tensor<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x24xf32>
  return %y : tensor<8x24xf32>
}

// -----

// A table of what differs in two loops, each input in one, stays, too.
// CHECK-LABEL: func.func @table(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#whole = affine_map<(c, i, j) -> (c, i, j)>
#sums = affine_map<(c, i, j) -> (i, j)>
#up = affine_map<(c, i, j) -> (i)>
#along = affine_map<(c, i, j) -> (j)>
func.func @table(%x: tensor<8x4x6xf32>, %u: tensor<4xf32>, %v: tensor<6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.generic {indexing_maps = [#whole, #up, #along, #sums], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %u, %v : tensor<8x4x6xf32>, tensor<4xf32>, tensor<6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.mulf %b, %c : f32
    %l = math.exp %d : f32
    %p = arith.mulf %a, %l : f32
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// An op without operands stays.
// CHECK-LABEL: func.func @of_nothing(
// CHECK:         linalg.generic
func.func @of_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  "linalg.generic"() <{indexing_maps = [], iterator_types = [], operandSegmentSizes = array<i32: 0, 0>}> ({
    "linalg.yield"() : () -> ()
  }) : () -> ()
  return %x : tensor<4xf32>
}

// -----

// What is computed from a diagonal cannot overwrite the square that it is the diagonal of.
// CHECK-LABEL: func.func @of_a_diagonal(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#rows = affine_map<(c, i) -> (c, i)>
#diagonal = affine_map<(c, i) -> (i, i)>
func.func @of_a_diagonal(%x: tensor<16x64xf32>, %m: tensor<64x8xf32>, %s: tensor<8x8xf32>, %z: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %v = linalg.exp ins(%x : tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %u = linalg.matmul ins(%v, %m : tensor<16x64xf32>, tensor<64x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [#rows, #diagonal, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%u, %s : tensor<16x8xf32>, tensor<8x8xf32>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %r = arith.subf %a, %l : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// What is computed from an input that the loop reads as well cannot overwrite it.
// CHECK-LABEL: func.func @read_as_well(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#whole = affine_map<(c, i) -> (c, i)>
#pixel = affine_map<(c, i) -> (i)>
func.func @read_as_well(%x: tensor<8x24xf32>, %t: tensor<24xf32>) -> tensor<8x24xf32> {
  %d = tensor.empty() : tensor<24xf32>
  %s = linalg.exp ins(%t : tensor<24xf32>) outs(%d : tensor<24xf32>) -> tensor<24xf32>
  %e = tensor.empty() : tensor<8x24xf32>
  %y = linalg.generic {indexing_maps = [#whole, #pixel, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x24xf32>, tensor<24xf32>) outs(%e : tensor<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %b, %b : f32
    %l = math.log %q : f32
    %p = arith.mulf %a, %q : f32
    %r = arith.subf %p, %l : f32
    linalg.yield %r : f32
  } -> tensor<8x24xf32>
  return %y : tensor<8x24xf32>
}
