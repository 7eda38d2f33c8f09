// RUN: %hotdesk-opt %s --split-input-file --hotdesk-widen-in-readers | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-widen-in-readers --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: widening: folded: cheap-to-recompute

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each reader has a widening of its own, right in front of it, with what it repeats.
// CHECK-LABEL: func.func @centred(
// CHECK-SAME:    [[X:%.*]]: tensor<4x8xf16>, [[M:%.*]]: tensor<4xf32>
// CHECK:         [[W:%.*]] = linalg.generic {{.*}} ins([[X]], [[M]] :
// CHECK:         [[V:%.*]] = linalg.generic {{.*}} ins([[X]], [[M]] :
// CHECK:         linalg.generic {{.*}} ins([[V]] : tensor<4x8xf32>) outs({{.*}} : tensor<4xf32>)
// CHECK:         linalg.generic {{.*}} ins([[W]] : tensor<4x8xf32>) outs({{.*}} : tensor<4x8xf16>)
func.func @centred(%x: tensor<4x8xf16>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf16>) {
  %n = arith.constant 8.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %w = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x8xf16>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %mean = arith.divf %b, %n : f32
    %wide = arith.extf %a : f16 to f32
    %r = arith.subf %wide, %mean : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %h = tensor.empty() : tensor<4x8xf16>
  %y = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x8xf32>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %r = arith.truncf %a : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4x8xf16>
  return %s, %y : tensor<4xf32>, tensor<4x8xf16>
}

// -----

#map = affine_map<(d0) -> (d0)>

// What takes long is not done twice (rule 2), nor what is needed in memory (3).
// CHECK-LABEL: func.func @left_alone(
// CHECK:         arith.extf
// CHECK-NOT:     arith.extf
// CHECK:         math.exp
// CHECK-NOT:     {{math.exp|arith.extf}}
// CHECK:         return
func.func @left_alone(%x: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %r = arith.extf %a : f16 to f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.square ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %w, %q, %s : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>

// Two tensors of 16-bit floats take as many bytes as their sum (rule 1), and what divides each element takes long (2).
// CHECK-LABEL: func.func @no_gain(
// CHECK-COUNT-2: arith.extf
// CHECK-NOT:     arith.extf
// CHECK-COUNT-1: arith.divf
// CHECK-NOT:     arith.divf
// CHECK:         return
func.func @no_gain(%x: tensor<8xf16>, %y: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %r = arith.addf %c, %d : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %two = arith.constant 2.0 : f16
    %r = arith.divf %a, %two : f16
    %s = arith.extf %r : f16 to f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %p = linalg.negf ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.square ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%v, %v : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %p, %q, %r : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
