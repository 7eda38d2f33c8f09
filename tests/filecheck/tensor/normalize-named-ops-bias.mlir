// RUN: %hotdesk-opt %s --split-input-file --hotdesk-normalize-named-ops | FileCheck %s

// A bias is added behind the sums, for the op that reads them.
// CHECK-LABEL: func.func @read_by_one(
// CHECK-SAME:    [[X:%[^ ]*]]: tensor<1x2x5x5xf32>, [[W:%[^ ]*]]: tensor<3x2x3x3xf32>, [[B:%[^ ]*]]: tensor<3xf32>)
// CHECK:         [[C:%.*]] = "hotdesk.conv"([[X]], [[W]], {{%.*}}) {accumulate = false
// CHECK:         [[R:%.*]] = linalg.generic {{.*}} ins([[C]], [[B]] : tensor<1x3x3x3xf32>, tensor<3xf32>)
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} ins([[R]] : tensor<1x3x3x3xf32>)
// CHECK:           arith.maximumf
func.func @read_by_one(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x3xf32>
  %init = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<1x3x3x3xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>)
      outs(%init : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x3x3x3xf32>) outs(%e : tensor<1x3x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}

// -----

// So is that of a depthwise one, for a named op.
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME:    [[X:%[^ ]*]]: tensor<1x4x7xf64>, [[W:%[^ ]*]]: tensor<4x3xf64>, [[B:%[^ ]*]]: tensor<4xf64>, [[Y:%[^ ]*]]: tensor<1x4x5xf64>)
// CHECK:         [[C:%.*]] = "hotdesk.conv"([[X]], {{%.*}}, {{%.*}}) {accumulate = false
// CHECK:         [[R:%.*]] = linalg.generic {{.*}} ins([[C]], [[B]] : tensor<1x4x5xf64>, tensor<4xf64>)
// CHECK:         linalg.mul ins([[R]], [[Y]] :
func.func @depthwise(%x: tensor<1x4x7xf64>, %w: tensor<4x3xf64>, %b: tensor<4xf64>, %y: tensor<1x4x5xf64>) -> tensor<1x4x5xf64> {
  %e = tensor.empty() : tensor<1x4x5xf64>
  %init = linalg.broadcast ins(%b : tensor<4xf64>) outs(%e : tensor<1x4x5xf64>) dimensions = [0, 2]
  %c = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%x, %w : tensor<1x4x7xf64>, tensor<4x3xf64>) outs(%init : tensor<1x4x5xf64>) -> tensor<1x4x5xf64>
  %r = linalg.mul ins(%c, %y : tensor<1x4x5xf64>, tensor<1x4x5xf64>) outs(%e : tensor<1x4x5xf64>) -> tensor<1x4x5xf64>
  return %r : tensor<1x4x5xf64>
}

// -----

// Where the result is read by two ops, or returned, nothing would be saved.
// CHECK-LABEL: func.func @read_by_two(
// CHECK:         [[F:%.*]] = linalg.broadcast
// CHECK:         "hotdesk.conv"({{%.*}}, {{%.*}}, [[F]]) {accumulate = true
func.func @read_by_two(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %b: tensor<3xf32>) -> (tensor<1x3x3xf32>, tensor<1x3x3xf32>) {
  %e = tensor.empty() : tensor<1x3x3xf32>
  %init = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) dimensions = [0, 2]
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x5xf32>, tensor<3x2x3xf32>) outs(%init : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %r = linalg.negf ins(%c : tensor<1x3x3xf32>) outs(%e : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  return %c, %r : tensor<1x3x3xf32>, tensor<1x3x3xf32>
}

// -----

// What only moves elements does not add to them.
// CHECK-LABEL: func.func @moved(
// CHECK:         [[F:%.*]] = linalg.broadcast
// CHECK:         "hotdesk.conv"({{%.*}}, {{%.*}}, [[F]]) {accumulate = true
func.func @moved(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x3xf32> {
  %e = tensor.empty() : tensor<1x3x3xf32>
  %init = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) dimensions = [0, 2]
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x5xf32>, tensor<3x2x3xf32>) outs(%init : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %r = linalg.transpose ins(%c : tensor<1x3x3xf32>) outs(%e : tensor<1x3x3xf32>) permutation = [0, 2, 1]
  return %r : tensor<1x3x3xf32>
}

// -----

// Nor does what sums them up.
// CHECK-LABEL: func.func @summed(
// CHECK:         [[F:%.*]] = linalg.broadcast
// CHECK:         "hotdesk.conv"({{%.*}}, {{%.*}}, [[F]]) {accumulate = true
func.func @summed(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %b: tensor<3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %e = tensor.empty() : tensor<1x3x3xf32>
  %init = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) dimensions = [0, 2]
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x5xf32>, tensor<3x2x3xf32>) outs(%init : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<1x3x3xf32>) outs(%y : tensor<1x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// -----

// An op that reads each element at several places would add at each of them.
// CHECK-LABEL: func.func @repeated(
// CHECK:         [[F:%.*]] = linalg.broadcast
// CHECK:         "hotdesk.conv"({{%.*}}, {{%.*}}, [[F]]) {accumulate = true
func.func @repeated(%x: tensor<1x2x3xf32>, %w: tensor<3x2x3xf32>, %b: tensor<3xf32>, %y: tensor<4x1x3x1xf32>) -> tensor<4x1x3x1xf32> {
  %e = tensor.empty() : tensor<1x3x1xf32>
  %init = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<1x3x1xf32>) dimensions = [0, 2]
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x3xf32>, tensor<3x2x3xf32>) outs(%init : tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
  %o = tensor.empty() : tensor<4x1x3x1xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(r, a, b, c) -> (a, b, c)>, affine_map<(r, a, b, c) -> (r, a, b, c)>, affine_map<(r, a, b, c) -> (r, a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %y : tensor<1x3x1xf32>, tensor<4x1x3x1xf32>) outs(%o : tensor<4x1x3x1xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<4x1x3x1xf32>
  return %r : tensor<4x1x3x1xf32>
}

// -----

// Sums of 16-bit floats would be rounded twice.
// CHECK-LABEL: func.func @halves(
// CHECK:         [[F:%.*]] = linalg.broadcast
// CHECK:         "hotdesk.conv"({{%.*}}, {{%.*}}, [[F]]) {accumulate = true
func.func @halves(%x: tensor<1x2x5xf16>, %w: tensor<3x2x3xf16>, %b: tensor<3xf16>) -> tensor<1x3x3xf16> {
  %e = tensor.empty() : tensor<1x3x3xf16>
  %init = linalg.broadcast ins(%b : tensor<3xf16>) outs(%e : tensor<1x3x3xf16>) dimensions = [0, 2]
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x5xf16>, tensor<3x2x3xf16>) outs(%init : tensor<1x3x3xf16>) -> tensor<1x3x3xf16>
  %r = linalg.negf ins(%c : tensor<1x3x3xf16>) outs(%e : tensor<1x3x3xf16>) -> tensor<1x3x3xf16>
  return %r : tensor<1x3x3xf16>
}
