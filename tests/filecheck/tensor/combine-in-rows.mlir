// RUN: %hotdesk-opt %s --split-input-file --hotdesk-combine-in-rows="least-bytes=300 least-part=192" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-combine-in-rows="least-bytes=300 least-part=192" --remarks-filter="split" 2>&1 | FileCheck %s --check-prefix=WHY

// The sum is put over what is added, half by half: the second half is taken of what the first has left.
// WHY: remark: [Passed] SPLIT | Category:split | Function=over_the_other | Reason=part-by-part, Bytes=192
// CHECK-LABEL: func.func @over_the_other(
// CHECK-SAME:    [[A:%.*]]: tensor<6x4xf32>, [[W:%.*]]: tensor<16x4xf32>)
// CHECK:         [[X:%.*]] = linalg.map { math.exp } ins([[L:%.*]] : tensor<6x16xf32>)
// CHECK:         [[A0:%.*]] = tensor.extract_slice [[A]][0, 0] [3, 4] [1, 1]
// CHECK:         [[V0:%.*]] = "hotdesk.contract"([[A0]], [[W]], {{.*}}) {{.*}} -> tensor<3x16xf32>
// CHECK:         [[X0:%.*]] = tensor.extract_slice [[X]][0, 0] [3, 16] [1, 1]
// CHECK:         [[R0:%.*]] = linalg.map { arith.addf } ins([[V0]], [[X0]] : {{.*}}) outs([[X0]] : tensor<3x16xf32>)
// CHECK:         [[S0:%.*]] = tensor.insert_slice [[R0]] into [[X]][0, 0] [3, 16] [1, 1]
// CHECK:         [[A1:%.*]] = tensor.extract_slice [[A]][3, 0] [3, 4] [1, 1]
// CHECK:         [[V1:%.*]] = "hotdesk.contract"([[A1]], [[W]], {{.*}}) {{.*}} -> tensor<3x16xf32>
// CHECK:         [[X1:%.*]] = tensor.extract_slice [[S0]][3, 0] [3, 16] [1, 1]
// CHECK:         [[R1:%.*]] = linalg.map { arith.addf } ins([[V1]], [[X1]] : {{.*}}) outs([[X1]] : tensor<3x16xf32>)
// CHECK:         [[S1:%.*]] = tensor.insert_slice [[R1]] into [[S0]][3, 0] [3, 16] [1, 1]
// CHECK:         return [[S1]]
func.func @over_the_other(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>) -> tensor<6x16xf32> {
  %e = tensor.empty() : tensor<6x16xf32>
  %l = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %x = linalg.map { math.exp } ins(%l : tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  return %r : tensor<6x16xf32>
}

// -----

// Condition 3: what is added is read once more behind the sum.
// CHECK-LABEL: func.func @read_later(
// CHECK-NOT:     tensor.insert_slice
func.func @read_later(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %e = tensor.empty() : tensor<6x16xf32>
  %x = linalg.map { math.exp } ins(%e : tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  return %r, %x : tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// Condition 3: what is added is an argument, which belongs to the caller.
// CHECK-LABEL: func.func @of_the_caller(
// CHECK-NOT:     tensor.insert_slice
func.func @of_the_caller(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>, %x: tensor<6x16xf32>) -> tensor<6x16xf32> {
  %e = tensor.empty() : tensor<6x16xf32>
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  return %r : tensor<6x16xf32>
}

// -----

// Condition 3: what makes the value reads what is added: a part would be put over rows that the next one needs.
// CHECK-LABEL: func.func @made_of_it(
// CHECK-NOT:     tensor.insert_slice
func.func @made_of_it(%a: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %x = linalg.map { math.exp } ins(%a : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>)
  %v = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>)
  return %r : tensor<16x16xf32>
}

// -----

// Condition 3: a view shows what is added.
// CHECK-LABEL: func.func @seen_through_a_view(
// CHECK-NOT:     tensor.insert_slice
func.func @seen_through_a_view(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>) -> (tensor<6x16xf32>, tensor<96xf32>) {
  %e = tensor.empty() : tensor<6x16xf32>
  %x = linalg.map { math.exp } ins(%e : tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<6x16xf32> into tensor<96xf32>
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  return %r, %s : tensor<6x16xf32>, tensor<96xf32>
}

// -----

// Condition 2: the value is read twice.
// CHECK-LABEL: func.func @needed_twice(
// CHECK-NOT:     tensor.insert_slice
func.func @needed_twice(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %e = tensor.empty() : tensor<6x16xf32>
  %l = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %l : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  return %r, %v : tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// Condition 4: four of them are held elsewhere, whatever is done here.
// CHECK-LABEL: func.func @not_at_the_peak(
// CHECK-NOT:     tensor.insert_slice
func.func @not_at_the_peak(%a: tensor<6x4xf32>, %w: tensor<16x4xf32>) -> (tensor<6x16xf32>, tensor<96xf32>) {
  %e = tensor.empty() : tensor<6x16xf32>
  %large = tensor.empty() : tensor<24x16xf32>
  %n = tensor.empty() : tensor<96xf32>
  %z = arith.constant 0.0 : f32
  %p = linalg.fill ins(%z : f32) outs(%large : tensor<24x16xf32>) -> tensor<24x16xf32>
  %q = tensor.extract_slice %p[0, 0] [6, 16] [1, 1] : tensor<24x16xf32> to tensor<6x16xf32>
  %x = linalg.map { math.exp } ins(%q : tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = linalg.map { arith.addf } ins(%v, %x : tensor<6x16xf32>, tensor<6x16xf32>) outs(%e : tensor<6x16xf32>)
  %f = linalg.fill ins(%z : f32) outs(%n : tensor<96xf32>) -> tensor<96xf32>
  return %r, %f : tensor<6x16xf32>, tensor<96xf32>
}

// -----

// Condition 1: what is added is read at another place, too.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT:     tensor.insert_slice
func.func @turned(%a: tensor<16x4xf32>, %w: tensor<16x4xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %l = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>,
                       affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %l, %l : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %old: f32):
    %c = arith.addf %p, %q : f32
    %d = arith.addf %c, %t : f32
    linalg.yield %d : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Condition 1: the sum is added to what its destination holds.
// CHECK-LABEL: func.func @destination_read(
// CHECK-NOT:     tensor.insert_slice
func.func @destination_read(%a: tensor<16x4xf32>, %w: tensor<16x4xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %l = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %v = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,nk->mn"}
    : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%v, %l : tensor<16x16xf32>, tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %c = arith.addf %p, %q : f32
    %d = arith.addf %c, %old : f32
    linalg.yield %d : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// What becomes 16-bit floats of a convolution in 32 bits is made with it, part by part: 768 bytes are never there together.
// WHY: remark: [Passed] SPLIT | Category:split | Function=halved | Reason=part-by-part, Bytes=576
// CHECK-LABEL: func.func @halved(
// CHECK-SAME:    [[X:%.*]]: tensor<1x2x8x8xf16>, [[W:%.*]]: tensor<3x2x1x1xf16>, [[B:%.*]]: tensor<3xf32>)
// CHECK-NOT:     "hotdesk.conv"({{.*}} -> tensor<1x3x8x8xf32>
// CHECK:         "hotdesk.conv"({{.*}} -> tensor<1x3x2x8xf32>
// CHECK:         linalg.generic {{.*}} ins({{.*}} : tensor<1x3x2x8xf32>, tensor<3xf32>)
// CHECK:         tensor.insert_slice {{.*}} : tensor<1x3x2x8xf16> into tensor<1x3x8x8xf16>
// CHECK:         [[R:%.*]] = tensor.insert_slice
// CHECK:         return
func.func @halved(%x: tensor<1x2x8x8xf16>, %w: tensor<3x2x1x1xf16>, %b: tensor<3xf32>) -> tensor<1x3x8x8xf16> {
  %e = tensor.empty() : tensor<1x3x8x8xf32>
  %h = tensor.empty() : tensor<1x3x8x8xf16>
  %v = "hotdesk.conv"(%x, %w, %e) {accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 1, 1>,
    pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x8x8xf16>, tensor<3x2x1x1xf16>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %b : tensor<1x3x8x8xf32>, tensor<3xf32>) outs(%h : tensor<1x3x8x8xf16>) {
  ^bb0(%a: f32, %c: f32, %out: f16):
    %s = arith.addf %a, %c : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x3x8x8xf16>
  return %r : tensor<1x3x8x8xf16>
}
