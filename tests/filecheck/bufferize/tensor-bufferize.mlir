// RUN: %hotdesk-opt %s --split-input-file --hotdesk-tensor-bufferize | FileCheck %s

// Views of one buffer, an insertion into a copy; the linalg op keeps its tensors.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    [[M:%.*]] = bufferization.to_buffer [[X]] : tensor<8xf32> to memref<8xf32>
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[M]][1] [2] [1]
// CHECK-NEXT:    [[S:%.*]] = bufferization.to_tensor [[V]] : memref<2xf32, strided<[1], offset: 1>> to tensor<2xf32>
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    [[E:%.*]] = bufferization.to_tensor [[A]] : memref<2xf32> to tensor<2xf32>
// CHECK-NEXT:    [[R:%.*]] = linalg.map { math.exp } ins([[S]] : tensor<2xf32>) outs([[E]] : tensor<2xf32>)
// CHECK-NEXT:    [[B:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    [[N:%.*]] = bufferization.to_buffer [[X]]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[N]] : memref<8xf32>) outs([[B]] :
// CHECK:         [[W:%.*]] = memref.subview [[B]][4] [2] [1]
// CHECK-NEXT:    [[Q:%.*]] = bufferization.to_buffer [[R]]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[Q]] : memref<2xf32>) outs([[W]] :
// CHECK:         [[T:%.*]] = bufferization.to_tensor [[B]]
// CHECK-NEXT:    return [[T]]
func.func @slices(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.map { math.exp } ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>)
  %t = tensor.insert_slice %r into %x[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %t : tensor<8xf32>
}

// -----

// A tensor that a payload reads is materialized in front of the op; sizes and single elements are scalars.
// CHECK-LABEL: func.func @payload(
// CHECK-SAME:    [[T:%.*]]: tensor<?xf32>,
// CHECK:         [[B:%.*]] = bufferization.to_buffer [[T]] : tensor<?xf32> to memref<?xf32>
// CHECK-NEXT:    linalg.generic
// CHECK:           memref.load [[B]][
// CHECK:         [[C:%.*]] = bufferization.to_buffer [[T]]
// CHECK-NEXT:    memref.dim [[C]],
func.func @payload(%table: tensor<?xf32>, %at: tensor<4xindex>, %e: tensor<4xf32>) -> (tensor<4xf32>, index) {
  %c0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: index, %o: f32):
    %t = tensor.extract %table[%a] : tensor<?xf32>
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %n = tensor.dim %table, %c0 : tensor<?xf32>
  return %r, %n : tensor<4xf32>, index
}

// -----

// Allocations with other contents and sizes; nothing is needed for no op.
// CHECK-LABEL: func.func @undefined(
// CHECK-SAME:    [[N:%.*]]: index, [[X:%.*]]: tensor<?xf32>)
// CHECK-NEXT:    memref.alloc([[N]]) : memref<?x0xf32>
// CHECK:         memref.alloc() : memref<f32>
// CHECK:         memref.alloc([[N]]) : memref<?xf32>
// CHECK:         [[M:%.*]] = bufferization.to_buffer [[X]]
// CHECK:         [[D:%.*]] = memref.dim [[M]],
// CHECK-NEXT:    [[A:%.*]] = memref.alloc([[D]]) : memref<?xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[M]] : memref<?xf32>) outs([[A]] :
// CHECK-LABEL: func.func @nothing() {
func.func @undefined(%n: index, %x: tensor<?xf32>) -> (tensor<?x0xf32>, tensor<f32>, tensor<?xf32>, tensor<?xf32>) {
  %a = tensor.empty(%n) : tensor<?x0xf32>
  %b = tensor.empty() : tensor<f32>
  %c = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %d = bufferization.alloc_tensor() copy(%x) : tensor<?xf32>
  return %a, %b, %c, %d : tensor<?x0xf32>, tensor<f32>, tensor<?xf32>, tensor<?xf32>
}
func.func @nothing() {
  return
}
func.func private @elsewhere(tensor<4xf32>)

// -----

// Tensors of scalars; a single element is stored into a copy.
// CHECK-LABEL: func.func @of_scalars(
// CHECK-SAME:    [[S:%.*]]: f32, [[N:%.*]]: index)
// CHECK:         [[A:%.*]] = memref.alloc([[N]]) : memref<?xf32>
// CHECK:         [[B:%.*]] = memref.alloc() : memref<2xf32>
// CHECK-COUNT-2: memref.store [[S]], [[B]][
// CHECK:         [[C:%.*]] = memref.alloc({{%.*}}) : memref<?xf32>
// CHECK:         linalg.generic {{.*}} ins([[A]] : memref<?xf32>) outs([[C]] :
// CHECK:         memref.store [[S]], [[C]][[[N]]]
func.func @of_scalars(%s: f32, %n: index) -> (tensor<?xf32>, tensor<2xf32>, tensor<?xf32>) {
  %a = tensor.splat %s[%n] : tensor<?xf32>
  %b = tensor.from_elements %s, %s : tensor<2xf32>
  %c = tensor.insert %s into %a[%n] : tensor<?xf32>
  return %a, %b, %c : tensor<?xf32>, tensor<2xf32>, tensor<?xf32>
}
