// RUN: %hotdesk-opt %s --split-input-file --hotdesk-normalize-named-ops | FileCheck %s

// Padding with zeros becomes attributes.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    [[X:%.*]]: tensor<1x2x5x5xf32>, [[W:%.*]]: tensor<3x2x3x3xf32>, [[Y:%.*]]: tensor<1x3x5x5xf32>)
// CHECK:         "hotdesk.conv"([[X]], [[W]], [[Y]]) {accumulate = true
// CHECK-SAME:    groups = 1 : i64
// CHECK-SAME:    pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>
func.func @padded(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %y: tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x5x5xf32> to tensor<1x2x7x7xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%p, %w : tensor<1x2x7x7xf32>, tensor<3x2x3x3xf32>) outs(%y : tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  return %r : tensor<1x3x5x5xf32>
}

// -----

// Padding with anything else stays.
// CHECK-LABEL: func.func @padded_with_ones(
// CHECK:         [[P:%.*]] = tensor.pad
// CHECK:         "hotdesk.conv"([[P]],
// CHECK-SAME:    pad_high = array<i64: 0>, pad_low = array<i64: 0>
func.func @padded_with_ones(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %y: tensor<1x3x5xf32>) -> tensor<1x3x5xf32> {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %one : f32
  } : tensor<1x2x5xf32> to tensor<1x2x7xf32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%p, %w : tensor<1x2x7xf32>, tensor<3x2x3xf32>) outs(%y : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  return %r : tensor<1x3x5xf32>
}

// -----

// So does padding of the channels.
// CHECK-LABEL: func.func @padded_channels(
// CHECK:         [[P:%.*]] = tensor.pad
// CHECK:         "hotdesk.conv"([[P]],
// CHECK-SAME:    pad_high = array<i64: 0>, pad_low = array<i64: 0>
func.func @padded_channels(%x: tensor<1x1x7xf32>, %w: tensor<3x2x3xf32>, %y: tensor<1x3x5xf32>) -> tensor<1x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x1x7xf32> to tensor<1x2x7xf32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%p, %w : tensor<1x2x7xf32>, tensor<3x2x3xf32>) outs(%y : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  return %r : tensor<1x3x5xf32>
}

// -----

// An insertion with strides into zeros is input dilation and padding: how transposed convolutions arrive.
// CHECK-LABEL: func.func @spread(
// CHECK-SAME:    [[X:%[^ ]*]]: tensor<1x2x3xf32>
// CHECK:         "hotdesk.conv"([[X]],
// CHECK-SAME:    input_dilations = array<i64: 2>, pad_high = array<i64: 1>, pad_low = array<i64: 2>
func.func @spread(%x: tensor<1x2x3xf32>, %w: tensor<3x2x3xf32>, %y: tensor<1x3x6xf32>) -> tensor<1x3x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x2x8xf32>
  %s = tensor.insert_slice %x into %zero[0, 0, 2] [1, 2, 3] [1, 1, 2] : tensor<1x2x3xf32> into tensor<1x2x8xf32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%s, %w : tensor<1x2x8xf32>, tensor<3x2x3xf32>) outs(%y : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  return %r : tensor<1x3x6xf32>
}

// -----

// Depthwise: as many groups as channels.
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME:    [[X:%.*]]: tensor<1x4x7xf32>, [[W:%.*]]: tensor<4x3xf32>, [[Y:%.*]]: tensor<1x4x5xf32>)
// CHECK-NEXT:    [[V:%.*]] = tensor.expand_shape [[W]] {{\[\[}}0, 1], [2]] output_shape [4, 1, 3]
// CHECK-NEXT:    "hotdesk.conv"([[X]], [[V]], [[Y]]) {accumulate = true
// CHECK-SAME:    groups = 4 : i64
func.func @depthwise(%x: tensor<1x4x7xf32>, %w: tensor<4x3xf32>, %y: tensor<1x4x5xf32>) -> tensor<1x4x5xf32> {
  %r = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%x, %w : tensor<1x4x7xf32>, tensor<4x3xf32>) outs(%y : tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return %r : tensor<1x4x5xf32>
}

// -----

// Grouped: the group dimensions are merged into their neighbours, through the reshape that split them.
// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:    [[X:%.*]]: tensor<1x4x7x7xf32>, [[W:%.*]]: tensor<2x3x2x3x3xf32>)
// CHECK:         [[V:%.*]] = tensor.collapse_shape [[W]]
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<1x6x5x5xf32>
// CHECK-NEXT:    [[R:%.*]] = "hotdesk.conv"([[X]], [[V]], [[E]]) {accumulate = false
// CHECK-SAME:    groups = 2 : i64
// CHECK-NEXT:    tensor.expand_shape [[R]] {{.*}} output_shape [1, 2, 3, 5, 5]
func.func @grouped(%x: tensor<1x4x7x7xf32>, %w: tensor<2x3x2x3x3xf32>) -> tensor<1x2x3x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %g = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 7, 7] : tensor<1x4x7x7xf32> into tensor<1x2x2x7x7xf32>
  %e = tensor.empty() : tensor<1x2x3x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  %r = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%g, %w : tensor<1x2x2x7x7xf32>, tensor<2x3x2x3x3xf32>) outs(%f : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  return %r : tensor<1x2x3x5x5xf32>
}

// -----

// The neutral element of a maximum is the smallest value, in the padding and in the init.
// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME:    [[X:%.*]]: tensor<1x2x4x4xf32>)
// CHECK:         "hotdesk.pool"([[X]], {{%.*}}) {accumulate = false
// CHECK-SAME:    kind = "max", pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>
func.func @max_pool(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32> {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %low : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x6x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%p, %window : tensor<1x2x6x6xf32>, tensor<2x2xf32>) outs(%f : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

// -----

// Zero is not.
// CHECK-LABEL: func.func @max_pool_padded_with_zeros(
// CHECK:         [[P:%.*]] = tensor.pad
// CHECK:         [[F:%.*]] = linalg.fill
// CHECK:         "hotdesk.pool"([[P]], [[F]]) {accumulate = true
// CHECK-SAME:    pad_high = array<i64: 0>
func.func @max_pool_padded_with_zeros(%x: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4xf32> to tensor<1x2x6xf32>
  %window = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %r = linalg.pooling_ncw_max {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>}
      ins(%p, %window : tensor<1x2x6xf32>, tensor<2xf32>) outs(%f : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

// -----

// That of a sum is zero.
// CHECK-LABEL: func.func @sum_pool(
// CHECK-SAME:    [[X:%.*]]: tensor<1x2x4xi32>)
// CHECK:         "hotdesk.pool"([[X]], {{%.*}}) {accumulate = false
// CHECK-SAME:    kind = "sum"
func.func @sum_pool(%x: tensor<1x2x4xi32>) -> tensor<1x2x2xi32> {
  %zero = arith.constant 0 : i32
  %window = tensor.empty() : tensor<2xi32>
  %e = tensor.empty() : tensor<1x2x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x2x2xi32>) -> tensor<1x2x2xi32>
  %r = linalg.pooling_ncw_sum {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>}
      ins(%x, %window : tensor<1x2x4xi32>, tensor<2xi32>) outs(%f : tensor<1x2x2xi32>) -> tensor<1x2x2xi32>
  return %r : tensor<1x2x2xi32>
}

// -----

// Strides and dilations that a named op leaves out are 1.
// CHECK-LABEL: func.func @said_nothing
// CHECK: hotdesk.conv
// CHECK-SAME: dilations = array<i64: 1, 1>
// CHECK-SAME: strides = array<i64: 1, 1>
// CHECK: hotdesk.pool
// CHECK-SAME: dilations = array<i64: 1, 1>
// CHECK-SAME: strides = array<i64: 1, 1>
func.func @said_nothing(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x2x2xf32>, %o: tensor<1x3x4x4xf32>, %k: tensor<2x2xf32>, %p: tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x5x5xf32>, tensor<3x2x2x2xf32>) outs(%o : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.pooling_nchw_max ins(%c, %k : tensor<1x3x4x4xf32>, tensor<2x2xf32>) outs(%p : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}
