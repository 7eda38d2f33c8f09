// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize="test-analysis-only print-conflicts" | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize="test-analysis-only print-conflicts reload-scalars" | FileCheck %s --check-prefix=RELOADED

// The rules of `analysis/in_place/inplace.py` by number, each where it fires and where it does not: `true` for an operand that is
// written where it lies, or only read, `false` for one that is copied, with the read that forbids the write, or the memory.

// Rule 1: a donated argument is written, also as a view shows it; one of the caller's is not.
// CHECK-LABEL: func.func @writable(
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "true"]} ins(%arg0 :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "true"]} ins(%collapsed :
func.func @writable(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %w = tensor.collapse_shape %v [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %b = linalg.exp ins(%w : tensor<8xf32>) outs(%w : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Nor is a view of it, a weight, what was prepared of one, or a constant.
// CHECK-LABEL: func.func @not_writable(
// CHECK:         arith.constant {"W_4[NOT-WRITABLE: result 0]"
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "false"]} ins(%arg0 :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "false"]} ins(%collapsed :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "false"]} ins(%arg2 :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "false"]} ins(%arg3 :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "false"]} ins(%cst :
func.func @not_writable(%x: tensor<8xf32>, %y: tensor<8xf32>, %w: tensor<8xf32> {hotdesk.kind = "weight"},
                        %p: tensor<8xf32> {hotdesk.kind = "prepared"})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %k = arith.constant dense<1.0> : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %s = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %t = tensor.collapse_shape %s [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %b = linalg.exp ins(%t : tensor<8xf32>) outs(%t : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.exp ins(%w : tensor<8xf32>) outs(%w : tensor<8xf32>) -> tensor<8xf32>
  %d = linalg.exp ins(%p : tensor<8xf32>) outs(%p : tensor<8xf32>) -> tensor<8xf32>
  %e = linalg.exp ins(%k : tensor<8xf32>) outs(%k : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c, %d, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Rule 2: of several later readers the last one is named.
// CHECK-LABEL: func.func @read_later(
// CHECK:         linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         linalg.add {__inplace_operands_attr__
// CHECK:         linalg.sub {"C_0[READ: 0]", __inplace_operands_attr__ = ["true", "true", "true"]}
func.func @read_later(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.add ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.sub ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A return is a reader.
// CHECK-LABEL: func.func @returned(
// CHECK:         linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         return {"C_0[READ: 1]"
func.func @returned(%x: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %a, %x : tensor<8xf32>, tensor<8xf32>
}

// -----

// A reader of a view counts, wherever the view is made.
// CHECK-LABEL: func.func @view_before(
// CHECK:         linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         linalg.add {"C_0[READ: 0]"
// CHECK-LABEL: func.func @view_behind(
// CHECK:         linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         linalg.add {"C_0[READ: 0]"
func.func @view_before(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %v = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %w = tensor.cast %v : tensor<?xf32> to tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%w, %a : tensor<8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @view_behind(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %w = tensor.cast %v : tensor<?xf32> to tensor<8xf32>
  %r = linalg.add ins(%w, %a : tensor<8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// So does a reader inside a region.
// CHECK-LABEL: func.func @read_in_a_region(
// CHECK:         linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         linalg.generic {{.*}}"C_0[READ: captured]"
func.func @read_in_a_region(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = arith.constant 0 : index
    %u = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %u : f32
  } -> tensor<8xf32>
  return %a, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// A scalar is computed before; where what uses it loads it again, that reads what the scalar comes from.
// CHECK-LABEL: func.func @scalar(
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "true"]}
// RELOADED-LABEL: func.func @scalar(
// RELOADED:       linalg.exp {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// RELOADED:       linalg.fill {"C_0[READ:
func.func @scalar(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %i = arith.constant 0 : index
  %s = tensor.extract %x[%i] : tensor<8xf32>
  %t = arith.addf %s, %s : f32
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.fill ins(%t : f32) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// An op that only overwrites is no reader: it goes over the first result, which lies there now and dies element by element.
// CHECK-LABEL: func.func @overwritten(
// CHECK-COUNT-2: linalg.exp {__inplace_operands_attr__ = ["true", "true"]}
func.func @overwritten(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.exp ins(%a : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Rule 3: the op itself reads only what it is about to overwrite: the same elements in the same places, also by another view.
// CHECK-LABEL: func.func @same_elements(
// CHECK:         linalg.add {__inplace_operands_attr__ = ["true", "true", "true"]} ins(%arg0, %arg0 :
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "true"]} {{.*}} outs(%arg1 :
func.func @same_elements(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.cast %y : tensor<8xf32> to tensor<?xf32>
  %w = tensor.cast %v : tensor<?xf32> to tensor<8xf32>
  %b = linalg.exp ins(%w : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Other elements: a transposition, a product, a region, a part that is inserted into its whole.
// CHECK-LABEL: func.func @other_elements(
// CHECK:         linalg.generic {{.*}}{"C_0[CONFL-WRITE: 1]", "C_0[READ: 0]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK:         linalg.matmul {"C_1[CONFL-WRITE: 2]", "C_1[READ: 0]", __inplace_operands_attr__ = ["true", "true", "false"]}
// CHECK:         linalg.generic {{.*}}{"C_2[CONFL-WRITE: 0]", "C_2[READ: captured]", __inplace_operands_attr__ = ["false"]}
// CHECK:         tensor.insert_slice {{.*}} {"C_3[CONFL-WRITE: 1]", "C_3[READ: 0]", __inplace_operands_attr__ = ["true", "false"]}
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
func.func @other_elements(%v: tensor<4x4xf32> {hotdesk.donated}, %w: tensor<4x4xf32> {hotdesk.donated},
                          %x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4x4xf32>) outs(%v : tensor<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  %b = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%w : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = arith.constant 0 : index
    %u = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %u : f32
  } -> tensor<8xf32>
  %s = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = tensor.insert_slice %s into %y[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Rule 5: one buffer holds one result; that may be overwritten again.
// CHECK-LABEL: func.func @one_result(
// CHECK:         linalg.exp {"C_0[DEF: result 0]", __inplace_operands_attr__ = ["true", "true"]}
// CHECK:         linalg.log {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["true", "false"]}
// CHECK-LABEL: func.func @again(
// CHECK:         linalg.exp {__inplace_operands_attr__ = ["true", "true"]}
// CHECK:         linalg.log {__inplace_operands_attr__ = ["true", "true"]}
func.func @one_result(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.exp ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.log ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
func.func @again(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.log ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
