// RUN: %hotdesk-opt %s --split-input-file --hotdesk-recognize-attention --canonicalize | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-recognize-attention --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: block-by-block

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>
#last = affine_map<(b, m, n) -> (m, n)>

// What is done to the scores, and with which other tensors, goes into the region.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME:    [[Q:%.*]]: tensor<2x5x4xf32>, [[K:%.*]]: tensor<2x7x4xf32>, [[V:%.*]]: tensor<2x7x3xf32>, [[MASK:%.*]]: tensor<5x7xf32>)
// CHECK-NOT:     hotdesk.contract
// CHECK:         [[R:%.*]] = "hotdesk.attention"([[Q]], [[K]], [[V]], [[MASK]], {{%.*}}) ({
// CHECK-NEXT:    ^bb0([[S:%.*]]: f32, [[X:%.*]]: f32, {{%.*}}: index, {{%.*}}: index):
// CHECK-NEXT:      [[T:%.*]] = arith.addf [[S]], [[X]] : f32
// CHECK-NEXT:      tm_tensor.yield [[T]] : f32
// CHECK-NEXT:    }) {equation = "bmd,bnd,bne,mn->bme",
// CHECK-SAME:    zero_rows = "never"}
// CHECK:         return [[R]]
func.func @masked(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x3xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %s = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>

// A multiplication of the queries by a constant becomes one of the scores, and a transpose of the keys letters. So does one of the result.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    [[Q:%.*]]: tensor<2x5x4xf32>, [[K:%.*]]: tensor<7x2x4xf32>, [[V:%.*]]: tensor<2x7x3xf32>)
// CHECK:         [[R:%.*]] = "hotdesk.attention"([[Q]], [[K]], [[V]], {{%.*}}) ({
// CHECK:           arith.mulf {{%.*}}, {{%.*}} : f32
// CHECK:         }) {equation = "bmd,nbd,bne->mbe",
// CHECK:         return [[R]] : tensor<5x2x3xf32>
func.func @scaled(%q: tensor<2x5x4xf32>, %k0: tensor<7x2x4xf32>, %v: tensor<2x7x3xf32>) -> tensor<5x2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %eq = tensor.empty() : tensor<2x5x4xf32>
  %ek = tensor.empty() : tensor<2x7x4xf32>
  %k = linalg.transpose ins(%k0 : tensor<7x2x4xf32>) outs(%ek : tensor<2x7x4xf32>) permutation = [1, 0, 2]
  %h = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<2x5x4xf32>) outs(%eq : tensor<2x5x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %half : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x4xf32>
  %x = "hotdesk.contract"(%h, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %et = tensor.empty() : tensor<5x2x3xf32>
  %t = linalg.transpose ins(%r : tensor<2x5x3xf32>) outs(%et : tensor<5x2x3xf32>) permutation = [1, 0, 2]
  return %t : tensor<5x2x3xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>

// Weights that somebody else wants are made as they were (rule 3).
// CHECK-LABEL: func.func @wanted(
// CHECK-NOT:     hotdesk.attention
func.func @wanted(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %x = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %r, %p : tensor<2x5x3xf32>, tensor<2x5x7xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>

// What is multiplied is no softmax of a product, but of an argument (rule 2).
// CHECK-LABEL: func.func @no_scores(
// CHECK-NOT:     hotdesk.attention
func.func @no_scores(%x: tensor<2x5x7xf32>, %v: tensor<2x7x3xf32>) -> tensor<2x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>
#last = affine_map<(b, m, n) -> (m, n)>

// The sum of a row begins with 1: its weights do not add up to 1 (rule 1).
// CHECK-LABEL: func.func @starting_at_one(
// CHECK-NOT:     hotdesk.attention
func.func @starting_at_one(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x3xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x3xf32> {
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %s = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%one : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#kept = affine_map<(b, m, n) -> (b, m)>
#last = affine_map<(b, m, n) -> (m, n)>

// What was widened from 16-bit floats is read as it was, and the result is rounded by the op.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    [[Q:%.*]]: tensor<2x5x4xbf16>, [[K:%.*]]: tensor<2x7x4xbf16>, [[V:%.*]]: tensor<2x7x3xbf16>, [[MASK:%.*]]: tensor<5x7xf32>)
// CHECK-NOT:     arith.extf
// CHECK:         [[R:%.*]] = "hotdesk.attention"([[Q]], [[K]], [[V]], [[MASK]], {{%.*}}) ({
// CHECK-NEXT:    ^bb0([[S:%.*]]: f32,
// CHECK:         -> tensor<2x5x3xbf16>
// CHECK-NOT:     arith.truncf
// CHECK:         return [[R]]
func.func @narrow(%q16: tensor<2x5x4xbf16>, %k16: tensor<2x7x4xbf16>, %v16: tensor<2x7x3xbf16>, %mask: tensor<5x7xf32>) -> tensor<2x5x3xbf16> {
  %eq = tensor.empty() : tensor<2x5x4xf32>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q16 : tensor<2x5x4xbf16>) outs(%eq : tensor<2x5x4xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %1 = arith.extf %a : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<2x5x4xf32>
  %ek = tensor.empty() : tensor<2x7x4xf32>
  %k = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k16 : tensor<2x7x4xbf16>) outs(%ek : tensor<2x7x4xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %1 = arith.extf %a : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<2x7x4xf32>
  %ev = tensor.empty() : tensor<2x7x3xf32>
  %v = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v16 : tensor<2x7x3xbf16>) outs(%ev : tensor<2x7x3xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %1 = arith.extf %a : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<2x7x3xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x7xf32>
  %s = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bnk->bmn"} : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %em = tensor.empty() : tensor<2x5xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x5x7xf32>) outs(%fm : tensor<2x5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.maximumf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5xf32>
  %m = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [2, 5, 1] : tensor<2x5xf32> into tensor<2x5x1xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<2x5x7xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %et1 = tensor.empty() : tensor<2x5x1xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%et1 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<2x5x7xf32>) outs(%ft : tensor<2x5x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x1xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %t1 : tensor<2x5x7xf32>, tensor<2x5x1xf32>) outs(%e : tensor<2x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x5x7xf32>
  %o = tensor.empty() : tensor<2x5x3xf32>
  %r = "hotdesk.contract"(%p, %v, %o) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %o16 = tensor.empty() : tensor<2x5x3xbf16>
  %r16 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<2x5x3xf32>) outs(%o16 : tensor<2x5x3xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<2x5x3xbf16>
  return %r16 : tensor<2x5x3xbf16>
}
