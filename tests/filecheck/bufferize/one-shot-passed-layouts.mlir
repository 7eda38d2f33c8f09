// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// A column goes round a loop: its stride is known, and where it begins.
// CHECK-LABEL: func.func @column(
// CHECK:         [[T:%.*]] = memref.subview {{.*}} to memref<4xi32, strided<[6], offset: 2>>
// CHECK-NEXT:    scf.for {{.*}} iter_args({{.*}} = [[T]]) -> (memref<4xi32, strided<[6], offset: 2>>) {
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      scf.yield %{{.*}} : memref<4xi32, strided<[6], offset: 2>>
func.func @column(%a: tensor<4x6xi32> {hotdesk.donated}, %k: i32) -> tensor<4x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = tensor.extract_slice %a[0, 2] [4, 1] [1, 1] : tensor<4x6xi32> to tensor<4xi32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %t) -> (tensor<4xi32>) {
    %y = tensor.insert %k into %x[%i] : tensor<4xi32>
    scf.yield %y : tensor<4xi32>
  }
  %z = tensor.insert_slice %r into %a[0, 2] [4, 1] [1, 1] : tensor<4xi32> into tensor<4x6xi32>
  return %z : tensor<4x6xi32>
}

// -----

// Rows of rows: the inner loop knows as much as the outer one.
// CHECK-LABEL: func.func @rows(
// CHECK:         scf.for {{.*}} -> (memref<4x6xi32>) {
// CHECK:           [[T:%.*]] = memref.subview {{.*}} to memref<2x6xi32, strided<[6, 1], offset: ?>>
// CHECK-NEXT:      scf.for {{.*}} iter_args([[X:%.*]] = [[T]]) -> (memref<2x6xi32, strided<[6, 1], offset: ?>>) {
// CHECK-NEXT:        [[ROW:%.*]] = memref.subview [[X]]{{.*}} to memref<6xi32, strided<[1], offset: ?>>
// CHECK-NEXT:        [[R:%.*]] = scf.for {{.*}} iter_args({{.*}} = [[ROW]]) -> (memref<6xi32, strided<[1], offset: ?>>) {
// CHECK-NOT:     memref.cast
func.func @rows(%a: tensor<4x6xi32> {hotdesk.donated}, %k: i32) -> tensor<4x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c2 iter_args(%u = %a) -> (tensor<4x6xi32>) {
    %t = tensor.extract_slice %u[%i, 0] [2, 6] [1, 1] : tensor<4x6xi32> to tensor<2x6xi32>
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%x = %t) -> (tensor<2x6xi32>) {
      %row = tensor.extract_slice %x[%j, 0] [1, 6] [1, 1] : tensor<2x6xi32> to tensor<6xi32>
      %q = scf.for %l = %c0 to %c4 step %c1 iter_args(%p = %row) -> (tensor<6xi32>) {
        %y = tensor.insert %k into %p[%l] : tensor<6xi32>
        scf.yield %y : tensor<6xi32>
      }
      %v = tensor.insert_slice %q into %x[%j, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<2x6xi32>
      scf.yield %v : tensor<2x6xi32>
    }
    %w = tensor.insert_slice %s into %u[%i, 0] [2, 6] [1, 1] : tensor<2x6xi32> into tensor<4x6xi32>
    scf.yield %w : tensor<4x6xi32>
  }
  return %r : tensor<4x6xi32>
}

// -----

// One of two rows begins here or there, one of a row and a column has any stride.
// CHECK-LABEL: func.func @chosen(
// CHECK:         scf.if %{{.*}} -> (memref<4xi32, strided<[1], offset: ?>>) {
// CHECK:         arith.select %{{.*}} : memref<4xi32, strided<[?], offset: ?>>
func.func @chosen(%a: tensor<4x4xi32>, %c: i1) -> (tensor<4xi32>, tensor<4xi32>) {
  %u = tensor.extract_slice %a[1, 0] [1, 4] [1, 1] : tensor<4x4xi32> to tensor<4xi32>
  %v = tensor.extract_slice %a[2, 0] [1, 4] [1, 1] : tensor<4x4xi32> to tensor<4xi32>
  %w = tensor.extract_slice %a[0, 2] [4, 1] [1, 1] : tensor<4x4xi32> to tensor<4xi32>
  %r = scf.if %c -> (tensor<4xi32>) {
    scf.yield %u : tensor<4xi32>
  } else {
    scf.yield %v : tensor<4xi32>
  }
  %s = arith.select %c, %u, %w : tensor<4xi32>
  %x = arith.addi %r, %r : tensor<4xi32>
  %y = arith.addi %s, %s : tensor<4xi32>
  return %x, %y : tensor<4xi32>, tensor<4xi32>
}

// -----

// A column goes round a loop with a condition. What reshapes it sees it in any layout, as it insists on the types.
// CHECK-LABEL: func.func @reshaped(
// CHECK:         [[R:%.*]]:2 = scf.while {{.*}}(index, memref<4xi32, strided<[6], offset: 2>>) -> (index, memref<4xi32, strided<[6], offset: 2>>)
// CHECK:         ^bb0({{.*}}: memref<4xi32, strided<[6], offset: 2>>):
// CHECK:         [[CAST:%.*]] = memref.cast [[R]]#1 : {{.*}} to memref<4xi32, strided<[?], offset: ?>>
// CHECK-NEXT:    memref.expand_shape [[CAST]]
func.func @reshaped(%a: tensor<4x6xi32> {hotdesk.donated}, %k: i32) -> tensor<2x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %u = tensor.extract_slice %a[0, 2] [4, 1] [1, 1] : tensor<4x6xi32> to tensor<4xi32>
  %r:2 = scf.while (%i = %c0, %x = %u) : (index, tensor<4xi32>) -> (index, tensor<4xi32>) {
    %more = arith.cmpi ult, %i, %c3 : index
    scf.condition(%more) %i, %x : index, tensor<4xi32>
  } do {
  ^bb0(%i: index, %x: tensor<4xi32>):
    %y = tensor.insert %k into %x[%i] : tensor<4xi32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %y : index, tensor<4xi32>
  }
  %e = tensor.expand_shape %r#1 [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  %z = arith.addi %e, %e : tensor<2x2xi32>
  return %z : tensor<2x2xi32>
}
