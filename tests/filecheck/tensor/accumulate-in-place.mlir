// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1000 assumed-size=8" | FileCheck %s --check-prefix=SMALL
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-accumulate-in-place="least-bytes=1" --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: result of hotdesk.contract and tm_tensor.scatter: in place: added-where-it-lies, 288 bytes
// WHY: result of hotdesk.contract and tm_tensor.scatter: in place: added-where-it-lies, 144 bytes
// SMALL-NOT: accumulate = true

#same = affine_map<(i, j) -> (i, j)>

// A momentum takes up both gradients of a table of words, that of the product and that of the rows looked up.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME:    [[M:%.*]]: tensor<9x4xf32> {hotdesk.donated}, [[A:%.*]]: tensor<5x9xf32>, [[B:%.*]]: tensor<5x4xf32>
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins([[M]] : tensor<9x4xf32>)
// CHECK-NEXT:    ^bb0([[X:%.*]]: f32, {{%.*}}: f32):
// CHECK-NEXT:      [[K:%.*]] = arith.mulf [[X]],
// CHECK-NEXT:      linalg.yield [[K]]
// CHECK:         [[P:%.*]] = "hotdesk.contract"([[A]], [[B]], [[S]]) {accumulate = true
// CHECK-NOT:     linalg.fill
// CHECK:         [[R:%.*]] = tm_tensor.scatter {{.*}} outs([[P]] :
// CHECK:         return [[R]]
func.func @tied(%m: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<5x9xf32>, %b: tensor<5x4xf32>, %u: tensor<3x1x4xf32>,
                %i: tensor<3x1xi64>) -> tensor<9x4xf32> {
  %z = arith.constant 0.0 : f32
  %d = arith.constant 0.9 : f32
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x9xf32>, tensor<5x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<9x4xf32>) -> tensor<9x4xf32>
  %q = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%f : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = arith.addf %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %p, %q : tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %both = arith.addf %y, %w : f32
    %kept = arith.mulf %x, %d : f32
    %sum = arith.addf %kept, %both : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// Without other terms, the first keeps its destination.
// CHECK-LABEL: func.func @both(
// CHECK-NOT:     linalg.generic
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[R:%.*]] = tm_tensor.scatter {{.*}} outs([[P]] :
// CHECK:         return [[R]]
func.func @both(%a: tensor<5x9xf32>, %b: tensor<5x4xf32>, %u: tensor<3x1x4xf32>, %i: tensor<3x1xi64>) -> tensor<9x4xf32> {
  %z = arith.constant dense<0.0> : tensor<9x4xf32>
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x9xf32>, tensor<5x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %q = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%z : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = arith.addf %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %w: f32, %o: f32):
    %both = arith.addf %y, %w : f32
    linalg.yield %both : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// What is made before another term is one of the other terms; what is a term as it is takes the place of the sum.
// CHECK-LABEL: func.func @before(
// CHECK:         "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[T:%.*]] = linalg.map { math.tanh }
// CHECK-NOT:     linalg.generic
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}, [[T]]) {accumulate = true
// CHECK:         return {{%.*}}, [[P]] :
func.func @before(%x: tensor<8x4xf32>, %a: tensor<5x8xf32>, %b: tensor<5x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %o = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = linalg.map { math.tanh } ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>)
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%t, %p : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%y: f32, %w: f32, %out: f32):
    %both = arith.addf %y, %w : f32
    linalg.yield %both : f32
  } -> tensor<8x4xf32>
  return %o, %r : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// Sizes that are open are read from what the sum writes over, which is made behind the first product and in front of the second.
// CHECK-LABEL: func.func @open(
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}accumulate = false
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins({{%.*}}, [[P]] :
// CHECK:         [[R:%.*]] = "hotdesk.contract"({{.*}}, [[S]]) {accumulate = true
// CHECK:         return [[R]]
func.func @open(%m: tensor<?x4xf32> {hotdesk.donated}, %a: tensor<5x?xf32>, %b: tensor<5x4xf32>, %n: index) -> tensor<?x4xf32> {
  %d = arith.constant 0.9 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x?xf32>, tensor<5x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %f = tensor.empty(%n) : tensor<?x4xf32>
  %q = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x?xf32>, tensor<5x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %p, %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %kept = arith.mulf %x, %d : f32
    %some = arith.addf %kept, %y : f32
    %sum = arith.addf %some, %w : f32
    linalg.yield %sum : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// A gradient times a rate: an operand of the product is multiplied instead, here the one that has fewer bytes. The rate is read
// in front of it.
// CHECK-LABEL: func.func @descent(
// CHECK-SAME:    [[X:%.*]]: tensor<9x4xf32> {hotdesk.donated}, [[A:%.*]]: tensor<3x9xf32>, [[B:%.*]]: tensor<3x4xf32>, [[R:%.*]]: tensor<f64>
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins([[R]] : tensor<f64>)
// CHECK:         [[C:%.*]] = linalg.generic {{.*}} ins([[B]], [[S]] : tensor<3x4xf32>, tensor<f32>)
// CHECK-NEXT:    ^bb0([[E:%.*]]: f32, [[F:%.*]]: f32, {{%.*}}: f32):
// CHECK-NEXT:      [[N:%.*]] = arith.negf [[F]]
// CHECK-NEXT:      [[M:%.*]] = arith.mulf [[E]], [[N]]
// CHECK-NEXT:      linalg.yield [[M]]
// CHECK:         [[P:%.*]] = "hotdesk.contract"([[A]], [[C]], [[X]]) {accumulate = true
// CHECK:         return [[P]]
func.func @descent(%x: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<3x9xf32>, %b: tensor<3x4xf32>, %rate: tensor<f64>)
    -> tensor<9x4xf32> {
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<3x9xf32>, tensor<3x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %n = tensor.empty() : tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%rate : tensor<f64>) outs(%n : tensor<f32>) {
  ^bb0(%y: f64, %o: f32):
    %t = arith.truncf %y : f64 to f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#same, #same, #none, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p, %s : tensor<9x4xf32>, tensor<9x4xf32>, tensor<f32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %g: f32, %f: f32, %o: f32):
    %down = arith.negf %f : f32
    %scaled = arith.mulf %g, %down : f32
    %sum = arith.addf %y, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// Weights that decay: what is left of the sum lies where the weights do. The operand that dies is multiplied where it lies.
// CHECK-LABEL: func.func @decay(
// CHECK:         [[T:%.*]] = linalg.map { math.tanh }
// CHECK:         [[C:%.*]] = linalg.generic {{.*}} ins([[T]] :
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK:         "hotdesk.contract"([[C]], {{%.*}}, [[S]]) {accumulate = true
func.func @decay(%x: tensor<8x4xf32> {hotdesk.donated}, %a: tensor<50x8xf32>, %b: tensor<50x4xf32>) -> tensor<8x4xf32> {
  %rate = arith.constant -0.1 : f32
  %d = arith.constant 0.01 : f32
  %w = tensor.empty() : tensor<50x8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.map { math.tanh } ins(%a : tensor<50x8xf32>) outs(%w : tensor<50x8xf32>)
  %p = "hotdesk.contract"(%t, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<50x8xf32>, tensor<50x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%y: f32, %g: f32, %o: f32):
    %decayed = arith.mulf %y, %d : f32
    %both = arith.addf %g, %decayed : f32
    %scaled = arith.mulf %both, %rate : f32
    %sum = arith.addf %y, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// Not where factors differ by element, where the weights are read later, or where either operand would need as much memory again.
// CHECK-LABEL: func.func @by_column(
// CHECK-NOT:     accumulate = true
func.func @by_column(%x: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<3x9xf32>, %b: tensor<3x4xf32>, %s: tensor<4xf32>)
    -> tensor<9x4xf32> {
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<3x9xf32>, tensor<3x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p, %s : tensor<9x4xf32>, tensor<9x4xf32>, tensor<4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %g: f32, %f: f32, %o: f32):
    %scaled = arith.mulf %g, %f : f32
    %sum = arith.addf %y, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// CHECK-LABEL: func.func @read_later(
// CHECK-NOT:     accumulate = true
func.func @read_later(%x: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<3x9xf32>, %b: tensor<3x4xf32>)
    -> (tensor<9x4xf32>, tensor<9x4xf32>) {
  %f = arith.constant -0.1 : f32
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<3x9xf32>, tensor<3x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %later = linalg.map { math.tanh } ins(%x : tensor<9x4xf32>) outs(%e : tensor<9x4xf32>)
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %g: f32, %o: f32):
    %scaled = arith.mulf %g, %f : f32
    %sum = arith.addf %y, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r, %later : tensor<9x4xf32>, tensor<9x4xf32>
}

// CHECK-LABEL: func.func @large_operands(
// CHECK-NOT:     accumulate = true
func.func @large_operands(%x: tensor<9x4xf32> {hotdesk.donated}, %a: tensor<9x9xf32>, %b: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %f = arith.constant -0.1 : f32
  %e = tensor.empty() : tensor<9x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<9x9xf32>, tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%y: f32, %g: f32, %o: f32):
    %scaled = arith.mulf %g, %f : f32
    %sum = arith.addf %y, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}
