// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-one-shot-bufferize=use-encoding-for-memory-space | FileCheck %s
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-choose-destinations --hotdesk-one-shot-bufferize=results=returned | FileCheck %s --check-prefix=RETURNED

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

// -----

// The memory of a memref keeps its space, and so does a part of it.
// RETURNED-LABEL: func.func @of_a_memref(
// RETURNED:         linalg.exp ins(%arg0 : memref<8xf32, 3>) outs(%arg0 : memref<8xf32, 3>)
// RETURNED:         [[A:%.*]] = memref.alloc() {{.*}}: memref<4xf32, 3>
// RETURNED:         memref<8xf32, 3> to memref<4xf32, strided<[1]>, 3>
// RETURNED:         [[R:%.*]] = memref.alloc() {{.*}}: memref<8xf32>
// RETURNED:         return [[R]] : memref<8xf32>
func.func @of_a_memref(%m: memref<8xf32, 3>, %c: f32) -> tensor<8xf32> {
  %x = bufferization.to_tensor %m restrict writable : memref<8xf32, 3> to tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %s = tensor.extract_slice %0[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = bufferization.alloc_tensor() copy(%s) : tensor<4xf32>
  %1 = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.insert_slice %1 into %0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A memref in another space is one copy.
// CHECK-LABEL: func.func @to_a_memref(
// CHECK:         [[A:%.*]] = memref.alloc() {{.*}}: memref<8xf32, 3>
// CHECK-NOT:     memref.alloc
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         "test.use"([[A]]) : (memref<8xf32, 3>)
func.func @to_a_memref(%x: tensor<8xf32>) {
  %m = bufferization.to_buffer %x : tensor<8xf32> to memref<8xf32, 3>
  "test.use"(%m) : (memref<8xf32, 3>) -> ()
  return
}

// -----

// What dies in another space is no destination.
// RETURNED-LABEL: func.func @dies_elsewhere(
// RETURNED:         linalg.abs ins(%alloc : memref<8xf32, 1>) outs(%{{.*}} : memref<8xf32>)
func.func @dies_elsewhere(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.abs ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %2 = linalg.exp ins(%1 : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Encodings are spaces only if they are said to be; then a constant is in that of its type.
// CHECK-LABEL:  func.func private @known(memref<8xf32, 1>) -> memref<8xf32, 1>
// CHECK-LABEL:  func.func @encoded(%arg0: memref<8xf32, 1>, %arg1: f32
// CHECK-NOT:      memref<8xf32>
// CHECK:          return
// CHECK:        memref.global {{.*}} : memref<2xf32, 1> = dense<[1.000000e+00, 2.000000e+00]>
// RETURNED:       @encoded(%arg0: memref<8xf32>, %arg1: f32) -> memref<8xf32>
// RETURNED-NOT:     memref<8xf32, 1>
// RETURNED:         return
func.func private @known(tensor<8xf32, 1 : i64>) -> tensor<8xf32, 1 : i64>
func.func @encoded(%x: tensor<8xf32, 1 : i64>, %c: f32) -> tensor<8xf32, 1 : i64> {
  %0 = linalg.fill ins(%c : f32) outs(%x : tensor<8xf32, 1 : i64>) -> tensor<8xf32, 1 : i64>
  %1 = func.call @known(%0) : (tensor<8xf32, 1 : i64>) -> tensor<8xf32, 1 : i64>
  return %1 : tensor<8xf32, 1 : i64>
}
func.func @constant() -> tensor<2xf32, 1 : i64> {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, 1 : i64>
  return %0 : tensor<2xf32, 1 : i64>
}
