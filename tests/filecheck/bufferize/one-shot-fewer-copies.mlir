// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize --print-decisions 2>&1 | FileCheck %s

// One thread is no race: it writes where the result is.
// CHECK-LABEL: func.func @one_thread(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, {{.*}}, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK:         scf.forall
// CHECK-NEXT:      linalg.fill {{.*}} outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @one_thread(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %f = linalg.fill ins(%v : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// A slice with gaps is copied to be collapsed; the copy is overwritten, in the memory of the result.
// CHECK:       decision: result of bufferization.alloc_tensor: copied: different-layout, 16 bytes
// CHECK-LABEL: func.func @collapsed(
// CHECK-SAME:    [[R:%[^ ]*]]: memref<4xf32> {bufferize.result
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         memref.store
// CHECK:         return
func.func @collapsed(%x: tensor<8x4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[%n, 0] [2, 2] [1, 1] : tensor<8x4xf32> to tensor<2x2xf32>
  %r = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %w = tensor.insert %v into %r[%c0] : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// The slice is copied when it is taken: what fills a slice of it writes there.
// CHECK:       decision: result of tensor.extract_slice: copied: slice-overwritten, 64 bytes
// CHECK-LABEL: func.func @nested(
// CHECK:         [[S:%.*]] = memref.alloc() : memref<4x4xf32>
// CHECK:         linalg.generic {{.*}} outs([[S]] : memref<4x4xf32>)
// CHECK:         [[T:%.*]] = memref.subview [[S]][0, 0]
// CHECK:         linalg.fill {{.*}} outs([[T]] :
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @nested(%A: tensor<8x8xf32>, %v: f32, %k: index) -> tensor<8x8xf32> {
  %s = tensor.extract_slice %A[%k, 0] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %t = tensor.extract_slice %s[0, 0] [%k, 2] [1, 1] : tensor<4x4xf32> to tensor<?x2xf32>
  %f = linalg.fill ins(%v : f32) outs(%t : tensor<?x2xf32>) -> tensor<?x2xf32>
  %u = tensor.insert_slice %f into %s[0, 0] [%k, 2] [1, 1] : tensor<?x2xf32> into tensor<4x4xf32>
  %w = tensor.insert_slice %u into %A[%k, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
  return %w : tensor<8x8xf32>
}
