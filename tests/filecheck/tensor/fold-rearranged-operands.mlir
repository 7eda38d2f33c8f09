// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fold-rearranged-operands --cse | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-fold-rearranged-operands --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: rearranged operand: folded: view-of-operand

// A Linear of pixels whose channels come first: the image is read where it lies, and the weight once for all rows of the image.
// CHECK-LABEL: func.func @linear_of_pixels(
// CHECK-SAME:    [[X:%.*]]: tensor<2x6x6x8xf32>, [[W:%.*]]: tensor<4x6xf32>)
// CHECK-NOT:     linalg
// CHECK:         [[R:%.*]] = "hotdesk.contract"([[X]], [[W]], %{{.*}}) {accumulate = false, equation = "[[S:.]][[K:.]][[T:.]][[M:.]],[[N:.]][[K]]->[[S]][[T]][[M]][[N]]"}
// CHECK-SAME:      -> tensor<2x6x8x4xf32>
// CHECK-NEXT:    tensor.collapse_shape [[R]] {{\[}}[0, 1], [2], [3]]
func.func @linear_of_pixels(%x: tensor<2x6x6x8xf32>, %w: tensor<4x6xf32>) -> tensor<12x8x4xf32> {
  %e = tensor.empty() : tensor<2x6x8x6xf32>
  %t = linalg.transpose ins(%x : tensor<2x6x6x8xf32>) outs(%e : tensor<2x6x8x6xf32>) permutation = [0, 2, 3, 1]
  %a = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x6x8x6xf32> into tensor<12x8x6xf32>
  %f = tensor.empty() : tensor<6x4xf32>
  %u = linalg.transpose ins(%w : tensor<4x6xf32>) outs(%f : tensor<6x4xf32>) permutation = [1, 0]
  %g = tensor.empty() : tensor<2x6x6x4xf32>
  %v = linalg.broadcast ins(%u : tensor<6x4xf32>) outs(%g : tensor<2x6x6x4xf32>) dimensions = [0, 1]
  %b = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x6x6x4xf32> into tensor<12x6x4xf32>
  %h = tensor.empty() : tensor<12x8x4xf32>
  %r = "hotdesk.contract"(%a, %b, %h) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<12x8x6xf32>, tensor<12x6x4xf32>, tensor<12x8x4xf32>) -> tensor<12x8x4xf32>
  return %r : tensor<12x8x4xf32>
}

// -----

// Both are repeated, one along the first part of the batch, the other along the second. What is added to is split too.
// CHECK-LABEL: func.func @both_repeated(
// CHECK-SAME:    [[X:%.*]]: tensor<2x4x5xf32>, [[Y:%.*]]: tensor<3x5x6xf32>, [[Z:%.*]]: tensor<6x4x6xf32>)
// CHECK:         [[I:%.*]] = tensor.expand_shape [[Z]] {{\[}}[0, 1], [2], [3]] output_shape [2, 3, 4, 6]
// CHECK:         "hotdesk.contract"([[X]], [[Y]], [[I]]) {accumulate = true, equation = "[[S:.]][[M:.]][[K:.]],[[T:.]][[K]][[N:.]]->[[S]][[T]][[M]][[N]]"}
func.func @both_repeated(%x: tensor<2x4x5xf32>, %y: tensor<3x5x6xf32>, %z: tensor<6x4x6xf32>) -> tensor<6x4x6xf32> {
  %e = tensor.empty() : tensor<2x3x4x5xf32>
  %t = linalg.broadcast ins(%x : tensor<2x4x5xf32>) outs(%e : tensor<2x3x4x5xf32>) dimensions = [1]
  %a = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x3x4x5xf32> into tensor<6x4x5xf32>
  %f = tensor.empty() : tensor<2x3x5x6xf32>
  %u = linalg.broadcast ins(%y : tensor<3x5x6xf32>) outs(%f : tensor<2x3x5x6xf32>) dimensions = [0]
  %b = tensor.collapse_shape %u [[0, 1], [2], [3]] : tensor<2x3x5x6xf32> into tensor<6x5x6xf32>
  %r = "hotdesk.contract"(%a, %b, %z) {accumulate = true, equation = "bmk,bkn->bmn"} : (tensor<6x4x5xf32>, tensor<6x5x6xf32>, tensor<6x4x6xf32>) -> tensor<6x4x6xf32>
  return %r : tensor<6x4x6xf32>
}

// -----

// Heads that are repeated behind one reshape and transposed behind another; dims of size 1 have no letter.
// CHECK-LABEL: func.func @repeated_heads(
// CHECK-SAME:    [[Q:%.*]]: tensor<6x5x4xf32>, [[K:%.*]]: tensor<1x2x7x4xf32>)
// CHECK-DAG:     [[L:%.*]] = tensor.expand_shape [[Q]] {{\[}}[0, 1], [2], [3]] output_shape [2, 3, 5, 4]
// CHECK-DAG:     [[H:%.*]] = tensor.collapse_shape [[K]] {{\[}}[0, 1], [2], [3]]
// CHECK:         "hotdesk.contract"([[L]], [[H]], %{{.*}}) {{{.*}} equation = "[[S:.]][[T:.]][[M:.]][[D:.]],[[S]][[N:.]][[D]]->[[S]][[T]][[M]][[N]]"}
func.func @repeated_heads(%q: tensor<6x5x4xf32>, %k: tensor<1x2x7x4xf32>) -> tensor<6x5x7xf32> {
  %e = tensor.empty() : tensor<1x2x3x7x4xf32>
  %u = linalg.broadcast ins(%k : tensor<1x2x7x4xf32>) outs(%e : tensor<1x2x3x7x4xf32>) dimensions = [2]
  %c = tensor.collapse_shape %u [[0], [1, 2], [3], [4]] : tensor<1x2x3x7x4xf32> into tensor<1x6x7x4xf32>
  %f = tensor.empty() : tensor<1x6x4x7xf32>
  %t = linalg.transpose ins(%c : tensor<1x6x7x4xf32>) outs(%f : tensor<1x6x4x7xf32>) permutation = [0, 1, 3, 2]
  %b = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<1x6x4x7xf32> into tensor<6x4x7xf32>
  %g = tensor.empty() : tensor<6x5x7xf32>
  %r = "hotdesk.contract"(%q, %b, %g) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<6x5x4xf32>, tensor<6x4x7xf32>, tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  return %r : tensor<6x5x7xf32>
}

// -----

// Rows and columns of a part of an image do not lie together, but each is one dim.
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    [[X:%.*]]: tensor<9x60x6xf32>, [[W:%.*]]: tensor<6x4xf32>)
// CHECK:         [[P:%.*]] = tensor.extract_slice [[X]]
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    "hotdesk.contract"([[P]], [[W]], %{{.*}}) {{{.*}} equation = "[[S:.]][[T:.]][[K:.]],[[K]][[N:.]]->[[S]][[T]][[N]]"}
func.func @part(%x: tensor<9x60x6xf32>, %w: tensor<6x4xf32>) -> tensor<350x4xf32> {
  %p = tensor.extract_slice %x[1, 5, 0] [7, 50, 6] [1, 1, 1] : tensor<9x60x6xf32> to tensor<7x50x6xf32>
  %a = tensor.collapse_shape %p [[0, 1], [2]] : tensor<7x50x6xf32> into tensor<350x6xf32>
  %e = tensor.empty() : tensor<350x4xf32>
  %r = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,kn->mn"} : (tensor<350x6xf32>, tensor<6x4xf32>, tensor<350x4xf32>) -> tensor<350x4xf32>
  return %r : tensor<350x4xf32>
}

// -----

// Rows of 5 in one go are few (condition 5): the copy stays.
// CHECK-LABEL: func.func @short_rows(
// CHECK:         [[P:%.*]] = tensor.collapse_shape
// CHECK:         "hotdesk.contract"([[P]], %{{.*}}, %{{.*}}) {{{.*}} equation = "mk,kn->mn"}
func.func @short_rows(%x: tensor<16x9x6xf32>, %w: tensor<6x4xf32>) -> tensor<75x4xf32> {
  %p = tensor.extract_slice %x[1, 2, 0] [15, 5, 6] [1, 1, 1] : tensor<16x9x6xf32> to tensor<15x5x6xf32>
  %a = tensor.collapse_shape %p [[0, 1], [2]] : tensor<15x5x6xf32> into tensor<75x6xf32>
  %e = tensor.empty() : tensor<75x4xf32>
  %r = "hotdesk.contract"(%a, %w, %e) {accumulate = false, equation = "mk,kn->mn"} : (tensor<75x6xf32>, tensor<6x4xf32>, tensor<75x4xf32>) -> tensor<75x4xf32>
  return %r : tensor<75x4xf32>
}

// -----

// Sums over rows and columns of an image, in another order in the other operand (gradients of filters): letters that stay together
// in both are one.
// CHECK-LABEL: func.func @summed_apart(
// CHECK-SAME:    [[X:%.*]]: tensor<2x3x60xf32>, [[Y:%.*]]: tensor<2x4x60xf32>)
// CHECK-NOT:     linalg
// CHECK:         "hotdesk.contract"([[X]], [[Y]], %{{.*}}) {{{.*}} equation = "[[S:.]][[M:.]][[K:.]],[[S]][[N:.]][[K]]->[[M]][[N]]"}
func.func @summed_apart(%x: tensor<2x3x60xf32>, %y: tensor<2x4x60xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x2x60xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x60xf32>) outs(%e : tensor<3x2x60xf32>) permutation = [1, 0, 2]
  %a = tensor.collapse_shape %t [[0], [1, 2]] : tensor<3x2x60xf32> into tensor<3x120xf32>
  %f = tensor.empty() : tensor<4x2x60xf32>
  %u = linalg.transpose ins(%y : tensor<2x4x60xf32>) outs(%f : tensor<4x2x60xf32>) permutation = [1, 0, 2]
  %b = tensor.collapse_shape %u [[0], [1, 2]] : tensor<4x2x60xf32> into tensor<4x120xf32>
  %g = tensor.empty() : tensor<3x4xf32>
  %r = "hotdesk.contract"(%a, %b, %g) {accumulate = false, equation = "mk,nk->mn"} : (tensor<3x120xf32>, tensor<4x120xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// A letter that is summed stays in one operand at least (condition 3).
// CHECK-LABEL: func.func @summed_stays(
// CHECK-SAME:    [[X:%.*]]: tensor<2xf32>, [[W:%.*]]: tensor<4xf32>)
// CHECK:         [[B:%.*]] = linalg.broadcast ins([[W]] :
// CHECK:         "hotdesk.contract"([[X]], [[B]], %{{.*}}) {{{.*}} equation = "m,kn->mn"}
func.func @summed_stays(%x: tensor<2xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.broadcast ins(%x : tensor<2xf32>) outs(%e : tensor<2x3xf32>) dimensions = [1]
  %g = tensor.empty() : tensor<3x4xf32>
  %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%g : tensor<3x4xf32>) dimensions = [0]
  %h = tensor.empty() : tensor<2x4xf32>
  %r = "hotdesk.contract"(%a, %b, %h) {accumulate = false, equation = "mk,kn->mn"} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// Sizes that vary are split where they were merged.
// CHECK-LABEL: func.func @sizes_vary(
// CHECK-SAME:    [[X:%.*]]: tensor<?x6x?xf32>
// CHECK-SAME:    [[W:%.*]]: tensor<6x4xf32>)
// CHECK:         [[R:%.*]] = "hotdesk.contract"([[X]], [[W]], %{{.*}}) {{{.*}} equation = "[[S:.]][[K:.]][[T:.]],[[K]][[N:.]]->[[S]][[T]][[N]]"}
// CHECK-NEXT:    tensor.collapse_shape [[R]] {{\[}}[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
func.func @sizes_vary(%x: tensor<?x6x?xf32> {hotdesk.shape = ["a", "6", "b"]}, %w: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %s = tensor.dim %x, %c0 : tensor<?x6x?xf32>
  %q = tensor.dim %x, %c2 : tensor<?x6x?xf32>
  %e = tensor.empty(%s, %q) : tensor<?x?x6xf32>
  %t = linalg.transpose ins(%x : tensor<?x6x?xf32>) outs(%e : tensor<?x?x6xf32>) permutation = [0, 2, 1]
  %a = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %n = arith.muli %s, %q : index
  %h = tensor.empty(%n) : tensor<?x4xf32>
  %r = "hotdesk.contract"(%a, %w, %h) {accumulate = false, equation = "mk,kn->mn"} : (tensor<?x6xf32>, tensor<6x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// A size that varies and is a part of a merged dim only is no dim of an operand: the inner transpose stays, the outer one goes.
// CHECK-LABEL: func.func @size_in_a_merged_dim(
// CHECK:         [[T:%.*]] = linalg.transpose ins(%{{.*}} : tensor<64x?xf32>)
// CHECK-NEXT:    [[V:%.*]] = tensor.expand_shape [[T]]
// CHECK:         [[R:%.*]] = "hotdesk.contract"([[V]], {{.*}}) {{{.*}} equation = "[[B:.]][[A:.]][[K:.]],[[N:.]][[K]]->[[A]][[B]][[N]]"}
// CHECK-NEXT:    tensor.collapse_shape [[R]] {{\[}}[0, 1], [2]]
func.func @size_in_a_merged_dim(%x: tensor<64x?xf32> {hotdesk.shape = ["64", "m"]}, %w: tensor<48x64xf32>) -> tensor<?x48xf32> {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = tensor.dim %x, %c1 : tensor<64x?xf32>
  %b = arith.divui %m, %c5 : index
  %d = tensor.empty(%m) : tensor<?x64xf32>
  %s = linalg.transpose ins(%x : tensor<64x?xf32>) outs(%d : tensor<?x64xf32>) permutation = [1, 0]
  %v = tensor.expand_shape %s [[0, 1], [2]] output_shape [%b, 5, 64] : tensor<?x64xf32> into tensor<?x5x64xf32>
  %e = tensor.empty(%b) : tensor<5x?x64xf32>
  %t = linalg.transpose ins(%v : tensor<?x5x64xf32>) outs(%e : tensor<5x?x64xf32>) permutation = [1, 0, 2]
  %a = tensor.collapse_shape %t [[0, 1], [2]] : tensor<5x?x64xf32> into tensor<?x64xf32>
  %h = tensor.empty(%m) : tensor<?x48xf32>
  %r = "hotdesk.contract"(%a, %w, %h) {accumulate = false, equation = "mk,nk->mn"} : (tensor<?x64xf32>, tensor<48x64xf32>, tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
