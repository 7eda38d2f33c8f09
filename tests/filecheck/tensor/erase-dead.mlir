// RUN: %hotdesk-opt %s --hotdesk-erase-dead | FileCheck %s

// What nobody uses goes, and what only that used.
// CHECK-LABEL: func.func @unused(
// CHECK-NEXT:    return %arg2
func.func @unused(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %unused = "hotdesk.contract"(%x, %w, %e) {equation = "mk,kn->mn", accumulate = false}
      : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// An op with effects stays, with what it uses, and so does what is inside of another.
// CHECK-LABEL: func.func @effects(
// CHECK-NEXT:    %[[C:.*]] = arith.constant
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.store %[[C]]
// CHECK-NEXT:    call @f()
// CHECK-NEXT:    return
func.func @effects(%m: memref<f32>, %p: i1, %a: f32) {
  %c = arith.constant 1.0 : f32
  %d = arith.mulf %a, %c : f32
  scf.if %p {
    %inside = arith.addf %a, %a : f32
  }
  memref.store %c, %m[] : memref<f32>
  %r = func.call @f() : () -> f32
  return
}
func.func private @f() -> f32
