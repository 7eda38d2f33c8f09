// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// What is padded by nothing stays as it is: no memory is filled for it.

// CHECK-LABEL: func.func @pad_by_nothing
// CHECK-SAME:    (%[[X:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.exp ins(%[[X]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
func.func @pad_by_nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<8xf32>
  %r = linalg.exp ins(%padded : tensor<8xf32>) outs(%padded : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A width that is the number 0 is none either.

// CHECK-LABEL: func.func @pad_by_constants
// CHECK-NOT:     memref.copy
// CHECK:         memref.cast {{.*}} : memref<8xf32> to memref<?xf32>
// CHECK-NOT:     memref.alloc
func.func @pad_by_constants(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : index
  %padded = tensor.pad %x low[%none] high[%none] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<?xf32>
  %again = tensor.cast %padded : tensor<?xf32> to tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%again : tensor<8xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An insertion that leaves nothing of its destination is its source; what filled the destination for it alone goes.

// CHECK-LABEL: func.func @whole
// CHECK-SAME:    (%[[X:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.exp ins(%[[X]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
func.func @whole(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %all = tensor.insert_slice %x into %zeros[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
  %r = linalg.exp ins(%all : tensor<8xf32>) outs(%all : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// What else is read of the destination stays.

// CHECK-LABEL: func.func @still_read
// CHECK:         %[[ZEROS:.*]] = memref.alloc
// CHECK:         linalg.fill ins({{.*}}) outs(%[[ZEROS]] : memref<8xf32>)
// CHECK:         linalg.add ins(%{{.*}}, %[[ZEROS]] :
func.func @still_read(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %all = tensor.insert_slice %x into %zeros[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
  %other = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%all, %zeros : tensor<8xf32>, tensor<8xf32>) outs(%other : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
