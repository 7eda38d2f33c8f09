// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-prepare=max-kept-in-bytes=48 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-prepare=max-kept-in-bytes=48 --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-prepare=max-kept-in-bytes=0 | FileCheck %s --check-prefix=NOTHING
// NOTHING-NOT: func.func @prepare

// The value of 64 bytes has no room and is computed in each call; what it is made of, and the other, have 16 bytes each.
// DECIDED-DAG: decision: prepared tensor<4xf32>: prepared: weight-only, 16 bytes (linalg.map at {{.*}}:19:8)
// DECIDED-DAG: decision: prepared tensor<4x4xf32>: not prepared: prepared-too-large, 64 bytes (linalg.generic at {{.*}}:21:8)
// DECIDED-DAG: decision: prepared tensor<4xf32>: prepared: weight-only, 16 bytes (linalg.map at {{.*}}:28:8)
// CHECK-LABEL: func.func @prepare(
// CHECK:         [[S:%.*]] = linalg.map { math.rsqrt }
// CHECK:         [[T:%.*]] = linalg.map { math.exp }
// CHECK:         return [[S]], [[T]] : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[S:%[^ ]*]]: tensor<4xf32> {hotdesk.kind = "prepared"}, [[T:%[^ ]*]]: tensor<4xf32> {hotdesk.kind = "prepared"})
// CHECK:         linalg.generic {{.*}} ins({{%.*}}, [[S]] :
func.func @main(%x: tensor<4x4xf32> {hotdesk.kind = "input"}, %w: tensor<4x4xf32> {hotdesk.kind = "weight"}, %v: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %d = tensor.empty() : tensor<4x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%d : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.mulf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<4x4xf32>
  %q = linalg.map { arith.mulf } ins(%x, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>)
  %t = linalg.map { math.exp } ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %t : tensor<4x4xf32>, tensor<4xf32>) outs(%d : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
