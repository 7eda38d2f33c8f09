// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize --print-decisions 2>&1 >%t.out | FileCheck %s --check-prefix=WHY

// The loop passes on %x as it is, and what %x is overwritten with, unread: that is computed in new memory from the start, and not copied
// there from %x's.

// CHECK-LABEL: func.func @handed_on_twice
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (memref<?xf32>, memref<?xf32>) {
// CHECK:           %[[NEW:.*]] = memref.alloc
// CHECK-NEXT:      linalg.fill ins(%{{.*}}) outs(%[[NEW]] : memref<?xf32>)
// CHECK-NEXT:      scf.yield %[[X]], %[[NEW]]
// WHY:         result of linalg.fill: allocated: read-later
// WHY-NOT:     operand 1 of scf.yield: copied
func.func @handed_on_twice(%a: tensor<?xf32> {hotdesk.donated}, %b: tensor<?xf32> {hotdesk.donated}) -> (tensor<?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %r:2 = scf.for %i = %c1 to %c4 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf32>, tensor<?xf32>) {
    %z = linalg.fill ins(%one : f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %x, %z : tensor<?xf32>, tensor<?xf32>
  }
  %over = linalg.fill ins(%one : f32) outs(%r#0 : tensor<?xf32>) -> tensor<?xf32>
  return %over, %r#1 : tensor<?xf32>, tensor<?xf32>
}
