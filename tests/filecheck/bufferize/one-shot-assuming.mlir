// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize --remarks-filter=bufferize 2>&1 >%t.out | FileCheck %s --check-prefix=WHY

// What the region yields lies where it was computed: in the result's memory.

// CHECK-LABEL: func.func @computed_in_the_result
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32> {bufferize.result
// CHECK:         shape.assuming %{{.*}} -> (memref<8xf32>) {
// CHECK-NEXT:      linalg.add ins(%[[A]], %[[B]] : {{.*}}) outs(%[[OUT]] :
// CHECK-NEXT:      shape.assuming_yield %[[OUT]] : memref<8xf32>
func.func @computed_in_the_result(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %holds = shape.const_witness true
  %e = tensor.empty() : tensor<8xf32>
  %r = shape.assuming %holds -> (tensor<8xf32>) {
    %s = linalg.add ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    shape.assuming_yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A loop's tensor goes through: no copy in an iteration, and numbers stay numbers.

// CHECK-LABEL: func.func @in_a_loop
// CHECK:         linalg.generic
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (memref<8xf32>) {
// CHECK-NEXT:      %[[R:.*]]:2 = shape.assuming %{{.*}} -> (memref<8xf32>, index) {
// CHECK-NEXT:        memref.store %{{.*}}, %[[X]]
// CHECK-NEXT:        shape.assuming_yield %[[X]], %{{.*}} : memref<8xf32>, index
// CHECK-NOT:       linalg.generic
// CHECK:           memref.store %{{.*}}, %[[R]]#0[%[[R]]#1]
// CHECK-NEXT:      scf.yield %[[R]]#0
func.func @in_a_loop(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = arith.constant 2.0 : f32
  %holds = shape.const_witness true
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<8xf32>) {
    %y:2 = shape.assuming %holds -> (tensor<8xf32>, index) {
      %s = tensor.insert %f into %x[%i] : tensor<8xf32>
      shape.assuming_yield %s, %c3 : tensor<8xf32>, index
    }
    %t = tensor.insert %f into %y#0[%y#1] : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// What is read behind the region is copied in it, and the remark names both.

// CHECK-LABEL: func.func @read_behind
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32> {hotdesk.donated},
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         shape.assuming
// CHECK:           linalg.generic {{.*}} ins(%[[A]] : memref<8xf32>) outs(%[[COPY]] : memref<8xf32>)
// CHECK:           memref.store %{{.*}}, %[[COPY]]
// CHECK:           shape.assuming_yield %[[COPY]]
// WHY: mlir:67:10: remark: [Missed] COPIED | Category:bufferize | Function=read_behind | Reason=read-later, Bytes=32, {{.*}}Read="linalg.add at {{.*}}mlir:71:8", Write="tensor.insert at {{.*}}mlir:67:10", Definition="argument 0
func.func @read_behind(%a: tensor<8xf32> {hotdesk.donated}, %i: index) -> tensor<8xf32> {
  %f = arith.constant 2.0 : f32
  %holds = shape.const_witness true
  %r = shape.assuming %holds -> (tensor<8xf32>) {
    %s = tensor.insert %f into %a[%i] : tensor<8xf32>
    shape.assuming_yield %s : tensor<8xf32>
  }
  %e = tensor.empty() : tensor<8xf32>
  %t = linalg.add ins(%a, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}

// -----

// Sizes are followed through the region: the copy has the argument's.

// CHECK-LABEL: func.func @sizes
// CHECK:         hotdesk.shape = ["[[N:.*]]"]}, %{{.*}}: memref<?xf32> {bufferize.result = 1 : i64, hotdesk.shape = ["[[N]]"]})
func.func @sizes(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %holds = shape.const_witness true
  %r = shape.assuming %holds -> (tensor<?xf32>) {
    shape.assuming_yield %a : tensor<?xf32>
  }
  return %r, %a : tensor<?xf32>, tensor<?xf32>
}
