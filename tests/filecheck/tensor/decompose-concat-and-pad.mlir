// RUN: %hotdesk-opt %s --split-input-file --hotdesk-decompose-concat-and-pad | FileCheck %s

// CHECK-LABEL: func.func @concat(
// CHECK-SAME:    [[A:%.*]]: tensor<2x3xf32>, [[B:%.*]]: tensor<2x4xf32>)
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<2x7xf32>
// CHECK-NEXT:    [[F:%.*]] = tensor.insert_slice [[A]] into [[E]][0, 0] [2, 3] [1, 1]
// CHECK-NEXT:    [[R:%.*]] = tensor.insert_slice [[B]] into [[F]][0, 3] [2, 4] [1, 1]
// CHECK-NEXT:    return [[R]]
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// -----

// CHECK-LABEL: func.func @concat_dynamic(
// CHECK-SAME:    [[A:%.*]]: tensor<?x3xf32>, [[B:%.*]]: tensor<?x3xf32>)
// CHECK:         [[N:%.*]] = tensor.dim [[A]]
// CHECK:         [[AT:%.*]] = arith.addi {{%.*}}, [[N]]
// CHECK:         [[M:%.*]] = tensor.dim [[B]]
// CHECK-NEXT:    [[ALL:%.*]] = arith.addi [[AT]], [[M]]
// CHECK-NEXT:    [[E:%.*]] = tensor.empty([[ALL]]) : tensor<?x3xf32>
// CHECK:         [[F:%.*]] = tensor.insert_slice [[A]] into [[E]][0, 0] [{{%.*}}, 3] [1, 1]
// CHECK:         [[R:%.*]] = tensor.insert_slice [[B]] into [[F]][[[AT]], 0] [{{%.*}}, 3] [1, 1]
// CHECK-NEXT:    return [[R]]
func.func @concat_dynamic(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @pad(
// CHECK-SAME:    [[A:%.*]]: tensor<2x3xf32>)
// CHECK:         [[V:%.*]] = arith.constant 2.0
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<3x6xf32>
// CHECK:         [[F:%.*]] = linalg.generic {{.*}} outs([[E]] : tensor<3x6xf32>)
// CHECK:           linalg.yield [[V]]
// CHECK:         [[R:%.*]] = tensor.insert_slice [[A]] into [[F]][1, 1] [2, 3] [1, 1]
// CHECK-NEXT:    return [[R]]
func.func @pad(%a: tensor<2x3xf32>) -> tensor<3x6xf32> {
  %v = arith.constant 2.0 : f32
  %r = tensor.pad %a low[1, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x3xf32> to tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

// -----

// The value may be any that does not depend on the position.
// CHECK-LABEL: func.func @pad_dynamic(
// CHECK-SAME:    [[A:%.*]]: tensor<?x3xf32>, [[N:%.*]]: index, [[V:%.*]]: f32)
// CHECK:         [[D:%.*]] = tensor.dim [[A]]
// CHECK:         [[S:%.*]] = arith.addi [[N]], [[D]]
// CHECK-NEXT:    [[T:%.*]] = arith.addi [[S]],
// CHECK-NEXT:    [[E:%.*]] = tensor.empty([[T]])
// CHECK:           linalg.yield [[V]]
// CHECK:         tensor.insert_slice [[A]] into {{%.*}}[[[N]], 0] [{{%.*}}, 3] [1, 1]
func.func @pad_dynamic(%a: tensor<?x3xf32>, %n: index, %v: f32) -> tensor<?x3xf32> {
  %r = tensor.pad %a low[%n, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x3xf32> to tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @pad_by_position(
// CHECK:         [[F:%.*]] = linalg.generic
// CHECK:           [[I:%.*]] = linalg.index 0
// CHECK:           linalg.yield [[I]]
// CHECK:         tensor.insert_slice %arg0 into [[F]][1] [3] [1]
func.func @pad_by_position(%a: tensor<3xindex>) -> tensor<4xindex> {
  %r = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<3xindex> to tensor<4xindex>
  return %r : tensor<4xindex>
}
