// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reshapes-as-views | FileCheck %s

// One dim is split; the others stay apart.
// CHECK-LABEL: func.func @split(
// CHECK-NOT:     tensor.reshape
// CHECK:         tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 3, 4]
func.func @split(%x: tensor<?x?x12xf32> {hotdesk.shape = ["a", "b", "12"]}) -> tensor<?x?x3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x12xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x12xf32>
  %s = tensor.from_elements %a, %b, %c3, %c4 : tensor<4xindex>
  %r = tensor.reshape %x(%s) : (tensor<?x?x12xf32>, tensor<4xindex>) -> tensor<?x?x3x4xf32>
  return %r : tensor<?x?x3x4xf32>
}

// -----

// Two dims are merged where their product is the size asked for; sizes may be integers of another type.
// CHECK-LABEL: func.func @merged(
// CHECK-NOT:     tensor.reshape
// CHECK:         tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<?x?x12xf32> into tensor<?x12xf32>
func.func @merged(%x: tensor<?x?x12xf32> {hotdesk.shape = ["a", "b", "12"]}) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : i64
  %a = tensor.dim %x, %c0 : tensor<?x?x12xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x12xf32>
  %p = arith.muli %a, %b : index
  %q = arith.index_cast %p : index to i64
  %s = tensor.from_elements %q, %c12 : tensor<2xi64>
  %r = tensor.reshape %x(%s) : (tensor<?x?x12xf32>, tensor<2xi64>) -> tensor<?x12xf32>
  return %r : tensor<?x12xf32>
}

// -----

// Dims that do not match one another are merged into one and split again.
// CHECK-LABEL: func.func @regrouped(
// CHECK:         [[ALL:%.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<6x?xf32> into tensor<?xf32>
// CHECK:         tensor.expand_shape [[ALL]] {{\[}}[0, 1]] output_shape [%{{.*}}, 2]
func.func @regrouped(%x: tensor<6x?xf32> {hotdesk.shape = ["6", "n"]}) -> tensor<?x2xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<6x?xf32>
  %p = arith.muli %n, %c3 : index
  %s = tensor.from_elements %p, %c2 : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<6x?xf32>, tensor<2xindex>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// A shape that comes as data is left alone.
// CHECK-LABEL: func.func @data(
// CHECK:         tensor.reshape
func.func @data(%x: tensor<?xf32>, %s: tensor<2xindex>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A constant says the sizes too, whatever the type leaves open.
// CHECK-LABEL: func.func @constant_shape(
// CHECK:         [[E:%.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [1, 100] : tensor<100xf32> into tensor<1x100xf32>
// CHECK:         tensor.cast [[E]] : tensor<1x100xf32> to tensor<?x100xf32>
func.func @constant_shape(%x: tensor<100xf32>) -> tensor<?x100xf32> {
  %s = arith.constant dense<[1, 100]> : tensor<2xi64>
  %r = tensor.reshape %x(%s) : (tensor<100xf32>, tensor<2xi64>) -> tensor<?x100xf32>
  return %r : tensor<?x100xf32>
}

// -----

// So does the type of the result, whoever makes the shape; what goes in must have as many elements.
// CHECK-LABEL: func.func @typed(
// CHECK:         [[C:%.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<6xf32>
// CHECK:         tensor.expand_shape [[C]] {{\[}}[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
func.func @typed(%x: tensor<?xf32>, %s: tensor<2xindex>) -> tensor<2x3xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// A transpose of dims of size 1 moves nothing.
// CHECK-LABEL: func.func @moves_nothing(
// CHECK-SAME:    [[X:%.*]]: tensor<1x5x1x7xf32>)
// CHECK:         [[C:%.*]] = tensor.collapse_shape [[X]] {{\[}}[0, 1, 2], [3]]
// CHECK-NEXT:    [[R:%.*]] = tensor.expand_shape [[C]] {{\[}}[0], [1, 2, 3]] output_shape [5, 7, 1, 1]
// CHECK-NEXT:    return [[R]]
func.func @moves_nothing(%x: tensor<1x5x1x7xf32>) -> tensor<5x7x1x1xf32> {
  %e = tensor.empty() : tensor<5x7x1x1xf32>
  %r = linalg.transpose ins(%x : tensor<1x5x1x7xf32>) outs(%e : tensor<5x7x1x1xf32>) permutation = [1, 3, 0, 2]
  return %r : tensor<5x7x1x1xf32>
}

// -----

// What is merged, transposed and split again is transposed as it is.
// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    [[X:%.*]]: tensor<?x3x5x7xf32>
// CHECK:         [[E:%.*]] = tensor.empty(%{{.*}}) : tensor<?x3x7x5xf32>
// CHECK-NEXT:    [[T:%.*]] = linalg.transpose ins([[X]] : tensor<?x3x5x7xf32>) outs([[E]] : tensor<?x3x7x5xf32>) permutation = [0, 1, 3, 2]
// CHECK-NEXT:    return [[T]]
func.func @apart(%x: tensor<?x3x5x7xf32> {hotdesk.shape = ["a", "3", "5", "7"]}) -> tensor<?x3x7x5xf32> {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?x3x5x7xf32>
  %c3 = arith.constant 3 : index
  %n = arith.muli %a, %c3 : index
  %m = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<?x3x5x7xf32> into tensor<?x5x7xf32>
  %e = tensor.empty(%n) : tensor<?x7x5xf32>
  %t = linalg.transpose ins(%m : tensor<?x5x7xf32>) outs(%e : tensor<?x7x5xf32>) permutation = [0, 2, 1]
  %r = tensor.expand_shape %t [[0, 1], [2], [3]] output_shape [%a, 3, 7, 5] : tensor<?x7x5xf32> into tensor<?x3x7x5xf32>
  return %r : tensor<?x3x7x5xf32>
}

// -----

// Other sizes than before are other elements: these stay.
// CHECK-LABEL: func.func @otherwise(
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0]
func.func @otherwise(%x: tensor<2x3x5xf32>) -> tensor<5x3x2xf32> {
  %m = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  %e = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%m : tensor<6x5xf32>) outs(%e : tensor<5x6xf32>) permutation = [1, 0]
  %r = tensor.expand_shape %t [[0], [1, 2]] output_shape [5, 3, 2] : tensor<5x6xf32> into tensor<5x3x2xf32>
  return %r : tensor<5x3x2xf32>
}

// -----

// One that moves dims of several elements stays.
// CHECK-LABEL: func.func @moves_two(
// CHECK:         linalg.transpose
func.func @moves_two(%x: tensor<5x1x7xf32>) -> tensor<7x1x5xf32> {
  %e = tensor.empty() : tensor<7x1x5xf32>
  %r = linalg.transpose ins(%x : tensor<5x1x7xf32>) outs(%e : tensor<7x1x5xf32>) permutation = [2, 1, 0]
  return %r : tensor<7x1x5xf32>
}
