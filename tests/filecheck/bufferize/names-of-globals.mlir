// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// A global is found by the whole of its name.
// CHECK:         memref.global "private" @gg : memref<i64> = dense<0>
// CHECK-LABEL: func.func @f()
// CHECK:         [[G:%.*]] = memref.get_global @gg : memref<i64>
// CHECK:         [[C:%.*]] = memref.alloc() : memref<i64>
// CHECK:         linalg.generic {{.*}} ins([[G]] : memref<i64>) outs([[C]] : memref<i64>)
// CHECK:         memref.load [[C]][]
ml_program.global private mutable @gg(dense<0> : tensor<i64>) : tensor<i64>
func.func @f() -> i64 {
  %0 = ml_program.global_load @gg : tensor<i64>
  %e = tensor.extract %0[] : tensor<i64>
  return %e : i64
}
