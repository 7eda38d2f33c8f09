// RUN: %hotdesk-opt %s --split-input-file --hotdesk-linalg-bufferize --print-decisions 2>&1 | FileCheck %s

// A destination that is read is copied, one that is overwritten is only allocated, both before any write.
// CHECK:       decision: operand 1 of linalg.map: allocated: not-analysed, 16 bytes (linalg.map at
// CHECK:       decision: operand 2 of linalg.matvec: copied: not-analysed, 16 bytes (linalg.matvec at
// CHECK-LABEL: func.func @destinations(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf32>, [[W:%.*]]: tensor<4x4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    [[M:%.*]] = bufferization.to_buffer [[X]]
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.map { math.exp } ins([[M]] : memref<4xf32>) outs([[A]] : memref<4xf32>)
// CHECK-NEXT:    [[T:%.*]] = bufferization.to_tensor [[A]]
// CHECK-NEXT:    [[V:%.*]] = bufferization.to_buffer [[W]]
// CHECK-NEXT:    [[B:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    [[N:%.*]] = bufferization.to_buffer [[X]]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[N]] : memref<4xf32>) outs([[B]] :
// CHECK:         linalg.matvec ins([[V]], [[A]] : memref<4x4xf32>, memref<4xf32>) outs([[B]] :
// CHECK-NEXT:    [[R:%.*]] = bufferization.to_tensor [[B]]
// CHECK-NEXT:    return [[R]]
func.func @destinations(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  %r = linalg.matvec ins(%w, %a : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Inside a loop, with sizes that vary; an empty tensor has no contents to copy.
// CHECK-LABEL: func.func @loop(
// CHECK:         [[E:%.*]] = tensor.empty([[N:%.*]]) : tensor<?xf32>
// CHECK-NEXT:    scf.for {{.*}} iter_args([[S:%.*]] = {{%.*}}) -> (tensor<?xf32>)
// CHECK-NEXT:      [[M:%.*]] = bufferization.to_buffer [[S]]
// CHECK-NEXT:      [[A:%.*]] = memref.alloc([[N]]) : memref<?xf32>
// CHECK-NEXT:      linalg.map { math.exp } ins([[M]] : memref<?xf32>) outs([[A]] :
// CHECK-NEXT:      [[T:%.*]] = bufferization.to_tensor [[A]]
// CHECK-NEXT:      scf.yield [[T]]
func.func @loop(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<?xf32> {
    %a = linalg.map { math.exp } ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>)
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A payload loads from the buffer of a tensor that it reads.
// CHECK-LABEL: func.func @payload(
// CHECK-SAME:    [[T:%.*]]: tensor<16xf32>,
// CHECK:         [[B:%.*]] = bufferization.to_buffer [[T]]
// CHECK-NEXT:    linalg.generic
// CHECK:           memref.load [[B]][
func.func @payload(%table: tensor<16xf32>, %at: tensor<4xindex>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: index, %o: f32):
    %t = tensor.extract %table[%a] : tensor<16xf32>
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @nothing() {
  return
}
