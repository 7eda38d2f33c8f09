// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=use-encoding-for-memory-space | FileCheck %s

// What is allocated in a space stays there, through a loop; what is returned leaves it by one copy.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:      [[R:%[a-z0-9]+]]: memref<8xf32> {bufferize.result
// CHECK:         [[A:%.*]] = memref.alloc() : memref<8xf32, 3>
// CHECK:         linalg.fill {{.*}} outs([[A]] : memref<8xf32, 3>)
// CHECK:         [[L:%.*]] = scf.for {{.*}} iter_args([[V:%.*]] = [[A]]) -> (memref<8xf32, 3>) {
// CHECK-NEXT:      linalg.exp ins([[V]] : memref<8xf32, 3>) outs([[V]] : memref<8xf32, 3>)
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins([[L]] : memref<8xf32, 3>) outs([[R]] : memref<8xf32>)
// CHECK:         return
func.func @loop(%c: f32, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<8xf32>
  %0 = linalg.fill ins(%c : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %0) -> tensor<8xf32> {
    %w = linalg.exp ins(%v : tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Types say it at the edges of functions; what has no encoding is needed in the default space.
// CHECK-LABEL: func.func private @plain(memref<8xf32>)
// CHECK-LABEL: func.func @edges(
// CHECK-SAME:      [[X:%[a-z0-9]+]]: memref<8xf32, 1>
// CHECK-SAME:      [[R:%[a-z0-9]+]]: memref<8xf32, 1> {bufferize.result
// CHECK:         linalg.exp ins([[X]] : memref<8xf32, 1>) outs([[R]] : memref<8xf32, 1>)
// CHECK:         [[D:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins({{%[a-z0-9]+}} : memref<8xf32, 1>) outs([[D]] : memref<8xf32>)
// CHECK:         call @plain([[D]]) : (memref<8xf32>) -> ()
// CHECK:         return
func.func private @plain(tensor<8xf32>)
func.func @edges(%x: tensor<8xf32, 1 : i64>) -> tensor<8xf32, 1 : i64> {
  %e = tensor.empty() : tensor<8xf32, 1 : i64>
  %0 = linalg.exp ins(%x : tensor<8xf32, 1 : i64>) outs(%e : tensor<8xf32, 1 : i64>) -> tensor<8xf32, 1 : i64>
  %d = tensor.cast %0 : tensor<8xf32, 1 : i64> to tensor<8xf32>
  func.call @plain(%d) : (tensor<8xf32>) -> ()
  return %0 : tensor<8xf32, 1 : i64>
}
