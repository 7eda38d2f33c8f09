// RUN: %hotdesk-opt %s --split-input-file --hotdesk-normalize-named-ops | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-normalize-named-ops --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: view-of-operand

// A transpose becomes a letter order, a fill with zero becomes accumulate = false.
// CHECK-LABEL: func.func @transposed_operand(
// CHECK-SAME:    [[X:%.*]]: tensor<2x3xf32>, [[W:%.*]]: tensor<4x3xf32>)
// CHECK:         linalg.fill
// CHECK-NEXT:    [[E:%.*]] = tensor.empty() : tensor<2x4xf32>
// CHECK-NEXT:    "hotdesk.contract"([[X]], [[W]], [[E]]) {accumulate = false, equation = "mk,nk->mn"}
func.func @transposed_operand(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) permutation = [1, 0]
  %d = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%x, %t : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// So does a linalg.generic that only rearranges. An init that is a value is accumulated into.
// CHECK-LABEL: func.func @transposed_by_a_generic(
// CHECK-SAME:    [[X:%.*]]: tensor<3x2xf32>, [[W:%.*]]: tensor<3x4xf32>, [[Y:%.*]]: tensor<2x4xf32>)
// CHECK:         "hotdesk.contract"([[X]], [[W]], [[Y]]) {accumulate = true, equation = "km,kn->mn"}
func.func @transposed_by_a_generic(%x: tensor<3x2xf32>, %w: tensor<3x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %r = linalg.matmul ins(%t, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// A broadcast dimension is a letter that the operand lacks.
// CHECK-LABEL: func.func @broadcast_operand(
// CHECK-SAME:    [[X:%.*]]: tensor<5x2x3xf32>, [[W:%.*]]: tensor<3x4xf32>, [[Y:%.*]]: tensor<5x2x4xf32>)
// CHECK:         "hotdesk.contract"([[X]], [[W]], [[Y]]) {accumulate = true, equation = "bmk,kn->bmn"}
func.func @broadcast_operand(%x: tensor<5x2x3xf32>, %w: tensor<3x4xf32>, %y: tensor<5x2x4xf32>) -> tensor<5x2x4xf32> {
  %e = tensor.empty() : tensor<5x3x4xf32>
  %b = linalg.broadcast ins(%w : tensor<3x4xf32>) outs(%e : tensor<5x3x4xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %b : tensor<5x2x3xf32>, tensor<5x3x4xf32>) outs(%y : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// -----

// A summed letter stays in one operand at least: its size says how often the product is added.
// CHECK-LABEL: func.func @the_summed_dimension_stays(
// CHECK-SAME:    [[X:%.*]]: tensor<2xf32>, [[W:%.*]]: tensor<4xf32>, [[Y:%.*]]: tensor<2x4xf32>)
// CHECK:         [[B:%.*]] = linalg.broadcast ins([[W]] :
// CHECK:         "hotdesk.contract"([[X]], [[B]], [[Y]]) {accumulate = true, equation = "m,kn->mn"}
func.func @the_summed_dimension_stays(%x: tensor<2xf32>, %w: tensor<4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.broadcast ins(%x : tensor<2xf32>) outs(%e : tensor<2x3xf32>) dimensions = [1]
  %g = tensor.empty() : tensor<3x4xf32>
  %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%g : tensor<3x4xf32>) dimensions = [0]
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// A fill with another number is contents like any other.
// CHECK-LABEL: func.func @other_fill(
// CHECK-SAME:    [[X:%.*]]: tensor<2x3xf32>, [[W:%.*]]: tensor<3x4xf32>)
// CHECK:         [[F:%.*]] = linalg.fill
// CHECK:         "hotdesk.contract"([[X]], [[W]], [[F]]) {accumulate = true, equation = "mk,kn->mn"}
func.func @other_fill(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %one = arith.constant 1.0 : f32
  %d = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%one : f32) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// Indexing maps of its own: left alone.
// CHECK-LABEL: func.func @own_maps(
// CHECK-NOT:     hotdesk.contract
// CHECK:         linalg.matmul indexing_maps
func.func @own_maps(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<2x3xf32>, tensor<4x3xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// Widened as unsigned integers: left alone.
// CHECK-LABEL: func.func @unsigned(
// CHECK-NOT:     hotdesk.contract
// CHECK:         linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
func.func @unsigned(%x: tensor<2x3xi8>, %w: tensor<3x4xi8>, %y: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
      ins(%x, %w : tensor<2x3xi8>, tensor<3x4xi8>) outs(%y : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// -----

// In a branch too.
// CHECK-LABEL: func.func @in_a_branch(
// CHECK:         scf.if
// CHECK:           "hotdesk.conv"
// CHECK-NOT:       linalg.conv
func.func @in_a_branch(%take: i1, %x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %d: tensor<1x3x3xf32>) -> tensor<1x3x3xf32> {
  %r = scf.if %take -> tensor<1x3x3xf32> {
    %c = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
        ins(%x, %w : tensor<1x2x5xf32>, tensor<3x2x3xf32>) outs(%d : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
    scf.yield %c : tensor<1x3x3xf32>
  } else {
    scf.yield %d : tensor<1x3x3xf32>
  }
  return %r : tensor<1x3x3xf32>
}

// -----

// In a loop too: what is folded may stand in front of it.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK-SAME:    [[X:%.*]]: tensor<2x3xf32>, [[W:%.*]]: tensor<3x3xf32>)
// CHECK:         scf.for {{.*}} iter_args([[A:%.*]] = [[X]])
// CHECK:           [[E:%.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT:      "hotdesk.contract"([[A]], [[W]], [[E]]) {accumulate = false, equation = "mk,nk->mn"}
func.func @in_a_loop(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %e = tensor.empty() : tensor<3x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) permutation = [1, 0]
  %d = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<2x3xf32> {
    %m = linalg.matmul ins(%a, %t : tensor<2x3xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %m : tensor<2x3xf32>
  }
  return %r : tensor<2x3xf32>
}

// Ops on buffers stay as they are.
// CHECK-LABEL: func.func @on_buffers(
// CHECK:         linalg.matmul ins(
func.func @on_buffers(%x: memref<2x3xf32>, %w: memref<3x3xf32>, %y: memref<2x3xf32>) {
  linalg.matmul ins(%x, %w : memref<2x3xf32>, memref<3x3xf32>) outs(%y : memref<2x3xf32>)
  return
}

// -----

// A product of 16-bit floats rounds its sums itself where nothing else is made of them.
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME:    [[A:%.*]]: tensor<?x8xbf16>, [[B:%.*]]: tensor<8x6xbf16>)
// CHECK:         [[E:%.*]] = tensor.empty({{.*}}) : tensor<?x6xbf16>
// CHECK-NEXT:    [[R:%.*]] = "hotdesk.contract"([[A]], [[B]], [[E]]) {accumulate = false, equation = "mk,kn->mn"}
// CHECK-SAME:      -> tensor<?x6xbf16>
// CHECK-NOT:     arith.truncf
// CHECK:         return [[R]]
// DECIDED: decision: sums: fused: rounded-as-summed, 24*{{.*}} bytes
func.func @rounded(%a: tensor<?x8xbf16>, %b: tensor<8x6xbf16>) -> tensor<?x6xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xbf16>
  %e = tensor.empty(%m) : tensor<?x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x8xbf16>, tensor<8x6xbf16>) outs(%f : tensor<?x6xf32>) -> tensor<?x6xf32>
  %h = tensor.empty(%m) : tensor<?x6xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x6xf32>) outs(%h : tensor<?x6xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x6xbf16>
  return %r : tensor<?x6xbf16>
}

// -----

// Sums that are wanted as they are, too, or that another type is made of, are in memory.
// CHECK-LABEL: func.func @wanted(
// CHECK-COUNT-2: "hotdesk.contract"({{.*}} -> tensor<4x6xf32>
// CHECK-NOT:     "hotdesk.contract"
#same = affine_map<(i, j) -> (i, j)>
func.func @wanted(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>) -> (tensor<4x6xf32>, tensor<4x6xf16>, tensor<4x6xf64>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%x: f32, %y: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16>
  %q = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %g = tensor.empty() : tensor<4x6xf64>
  %s = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<4x6xf32>) outs(%g : tensor<4x6xf64>) {
  ^bb0(%x: f32, %y: f64):
    %t = arith.extf %x : f32 to f64
    linalg.yield %t : f64
  } -> tensor<4x6xf64>
  return %p, %r, %s : tensor<4x6xf32>, tensor<4x6xf16>, tensor<4x6xf64>
}

// -----

// Kernels round to the nearest even: sums that are rounded in another way are in memory.
// CHECK-LABEL: func.func @other_rounding(
// CHECK:         "hotdesk.contract"({{.*}} -> tensor<4x6xf32>
// CHECK:         arith.truncf {{%.*}} toward_zero : f32 to bf16
#same = affine_map<(i, j) -> (i, j)>
func.func @other_rounding(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xbf16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xf32>) outs(%h : tensor<4x6xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x toward_zero : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x6xbf16>
  return %r : tensor<4x6xbf16>
}

// -----

// So does a convolution, which adds to a bias of 16-bit floats as they are.
// CHECK-LABEL: func.func @rounded_convolution(
// CHECK-SAME:    [[X:%.*]]: tensor<1x2x5x5xbf16>, [[W:%.*]]: tensor<3x2x3x3xbf16>, [[B:%.*]]: tensor<3xbf16>)
// CHECK:         [[Y:%.*]] = linalg.generic {{.*}} ins([[B]] : tensor<3xbf16>) outs({{.*}} : tensor<1x3x3x3xbf16>)
// CHECK:         [[R:%.*]] = "hotdesk.conv"([[X]], [[W]], [[Y]]) {accumulate = true
// CHECK-SAME:      -> tensor<1x3x3x3xbf16>
// CHECK-NOT:     arith.truncf
// CHECK:         return [[R]]
func.func @rounded_convolution(%x: tensor<1x2x5x5xbf16>, %w: tensor<3x2x3x3xbf16>, %b: tensor<3xbf16>) -> tensor<1x3x3x3xbf16> {
  %s = tensor.empty() : tensor<3xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : tensor<3xbf16>) outs(%s : tensor<3xf32>) {
  ^bb0(%p: bf16, %q: f32):
    %t = arith.extf %p : bf16 to f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  %e = tensor.empty() : tensor<1x3x3x3xf32>
  %i = linalg.broadcast ins(%v : tensor<3xf32>) outs(%e : tensor<1x3x3x3xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x2x5x5xbf16>, tensor<3x2x3x3xbf16>) outs(%i : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %h = tensor.empty() : tensor<1x3x3x3xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x3x3x3xf32>) outs(%h : tensor<1x3x3x3xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x3x3x3xbf16>
  return %r : tensor<1x3x3x3xbf16>
}

// -----

// One that adds to numbers of 32 bits does not.
// CHECK-LABEL: func.func @added_to_more(
// CHECK:         "hotdesk.conv"({{.*}}) {accumulate = true
// CHECK-SAME:      -> tensor<1x3x3x3xf32>
// CHECK:         arith.truncf
func.func @added_to_more(%x: tensor<1x2x5x5xbf16>, %w: tensor<3x2x3x3xbf16>, %y: tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xbf16> {
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x2x5x5xbf16>, tensor<3x2x3x3xbf16>) outs(%y : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %h = tensor.empty() : tensor<1x3x3x3xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x3x3x3xf32>) outs(%h : tensor<1x3x3x3xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x3x3x3xbf16>
  return %r : tensor<1x3x3x3xbf16>
}

// -----

// What is computed of its sums before they are rounded wants them in 32 bits, but not what is multiplied.
// CHECK-LABEL: func.func @scaled_before_it_is_rounded(
// CHECK-SAME:    [[X:%.*]]: tensor<4x8xf16>, [[W:%.*]]: tensor<8x6xf16>)
// CHECK:         "hotdesk.contract"([[X]], [[W]], {{%.*}}) {{.*}} -> tensor<4x6xf32>
#same = affine_map<(i, j) -> (i, j)>
func.func @scaled_before_it_is_rounded(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e1 = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e1 : tensor<4x8xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<8x6xf32>
  %c = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8x6xf16>) outs(%e2 : tensor<8x6xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  %e3 = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.matmul ins(%a, %c : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<4x6xf32>) outs(%e3 : tensor<4x6xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %half : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %z = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%p: f32, %q: f16):
    %v = arith.truncf %p : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x6xf16>
  return %z : tensor<4x6xf16>
}

// -----

// Nothing is rounded: a product in 32 bits is one.
// CHECK-LABEL: func.func @never_rounded(
// CHECK:         "hotdesk.contract"({{.*}} : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
#same = affine_map<(i, j) -> (i, j)>
func.func @never_rounded(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e1 = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e1 : tensor<4x8xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<8x6xf32>
  %c = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8x6xf16>) outs(%e2 : tensor<8x6xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  %e3 = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.matmul ins(%a, %c : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<4x6xf32>) outs(%e3 : tensor<4x6xf32>) {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %half : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// A product that 16-bit floats are widened for reads them as they are, and begins with those that its sums are added to.
// CHECK-LABEL: func.func @begins_with_a_bias(
// CHECK-SAME:    [[X:%.*]]: tensor<4x8xf16>, [[W:%.*]]: tensor<6x8xf16>, [[B:%.*]]: tensor<6xf16>)
// CHECK:         [[I:%.*]] = linalg.generic {{.*}} ins([[B]] : tensor<6xf16>) outs({{.*}} : tensor<4x6xf16>)
// CHECK:         [[R:%.*]] = "hotdesk.contract"([[X]], [[W]], [[I]]) {accumulate = true, equation = "mk,nk->mn"}
// CHECK-SAME:      -> tensor<4x6xf16>
// CHECK-NOT:     arith.truncf
// CHECK:         return [[R]]
#same = affine_map<(i, j) -> (i, j)>
func.func @begins_with_a_bias(%x: tensor<4x8xf16>, %w: tensor<6x8xf16>, %b: tensor<6xf16>) -> tensor<4x6xf16> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x6xf16>
  %t = linalg.transpose ins(%w : tensor<6x8xf16>) outs(%e0 : tensor<8x6xf16>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e1 : tensor<4x8xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<8x6xf32>
  %c = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<8x6xf16>) outs(%e2 : tensor<8x6xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  %e3 = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.matmul ins(%a, %c : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e4 = tensor.empty() : tensor<6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : tensor<6xf16>) outs(%e4 : tensor<6xf32>) {
  ^bb0(%p: f16, %q: f32):
    %v = arith.extf %p : f16 to f32
    linalg.yield %v : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j)>, #same], iterator_types = ["parallel", "parallel"]}
      ins(%r, %s : tensor<4x6xf32>, tensor<6xf32>) outs(%e3 : tensor<4x6xf32>) {
  ^bb0(%p: f32, %u: f32, %q: f32):
    %v = arith.addf %p, %u : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %z = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%p: f32, %q: f16):
    %v = arith.truncf %p : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x6xf16>
  return %z : tensor<4x6xf16>
}

// -----

// Sums that are rounded, and then added to a bias, are rounded twice, as the program says.
// CHECK-LABEL: func.func @rounded_twice(
// CHECK:         [[P:%.*]] = "hotdesk.contract"({{.*}}) {accumulate = false
// CHECK-SAME:      -> tensor<4x6xf16>
// CHECK:         [[R:%.*]] = linalg.generic {{.*}} ins([[P]],
// CHECK:           arith.addf {{.*}} : f16
// CHECK:         return [[R]]
#same = affine_map<(i, j) -> (i, j)>
func.func @rounded_twice(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %s: tensor<6xf16>) -> tensor<4x6xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%x: f32, %y: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16>
  %z = linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j)>, #same], iterator_types = ["parallel", "parallel"]}
      ins(%r, %s : tensor<4x6xf16>, tensor<6xf16>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%x: f16, %u: f16, %y: f16):
    %t = arith.addf %x, %u : f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16>
  return %z : tensor<4x6xf16>
}

// -----

// What is added is a whole tensor, which the product adds to where it lies.
// CHECK-LABEL: func.func @begins_with_a_tensor(
// CHECK-SAME:    [[A:%.*]]: tensor<4x8xf16>, [[B:%.*]]: tensor<8x6xf16>, [[S:%.*]]: tensor<4x6xf16>)
// CHECK:         [[R:%.*]] = "hotdesk.contract"([[A]], [[B]], [[S]]) {accumulate = true
// CHECK:         return [[R]]
#same = affine_map<(i, j) -> (i, j)>
func.func @begins_with_a_tensor(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %s: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %w = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x6xf16>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f32):
    %t = arith.extf %x : f16 to f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %q = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%w, %p : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%x: f32, %u: f32, %y: f32):
    %t = arith.addf %u, %x : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%x: f32, %y: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16>
  return %r : tensor<4x6xf16>
}

// -----

// Of a sort whose first elements alone are read it says how many these are (rule 7); of others it says nothing.
// CHECK-LABEL: func.func @the_first(
// CHECK:         tm_tensor.sort {hotdesk.first = 5 : i64} dimension(1)
// CHECK:         tm_tensor.sort dimension(0)
func.func @the_first(%x: tensor<8x9xf32>, %i: tensor<8x9xi64>) -> (tensor<8x2xf32>, tensor<8x5xi64>, tensor<8x5xf32>) {
  %s:2 = tm_tensor.sort dimension(1) outs(%x, %i : tensor<8x9xf32>, tensor<8x9xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %t = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %t : i1
  } -> tensor<8x9xf32>, tensor<8x9xi64>
  %v = tensor.extract_slice %s#0[0, 0] [8, 2] [1, 1] : tensor<8x9xf32> to tensor<8x2xf32>
  %p = tensor.extract_slice %s#1[0, 0] [8, 5] [1, 1] : tensor<8x9xi64> to tensor<8x5xi64>
  %u:2 = tm_tensor.sort dimension(0) outs(%x, %i : tensor<8x9xf32>, tensor<8x9xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %t = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %t : i1
  } -> tensor<8x9xf32>, tensor<8x9xi64>
  %w = tensor.extract_slice %u#0[0, 1] [8, 5] [1, 1] : tensor<8x9xf32> to tensor<8x5xf32>
  return %v, %p, %w : tensor<8x2xf32>, tensor<8x5xi64>, tensor<8x5xf32>
}
