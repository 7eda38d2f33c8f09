// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=function-boundary-type-conversion=fully-dynamic-layout-map | FileCheck %s

// Names in a module inside of another one mean functions of theirs, which may have the same names and other types.
// CHECK-LABEL: func.func private @g(memref<4xf32, strided<[?], offset: ?>>) -> f32
// CHECK:         call @g({{%.*}}) : (memref<4xf32, strided<[?], offset: ?>>) -> f32
// CHECK-LABEL: module @inner
// CHECK:         func.func private @g(memref<8xf32, strided<[?], offset: ?>>) -> f32
// CHECK:         call @g({{%.*}}) : (memref<8xf32, strided<[?], offset: ?>>) -> f32
// CHECK:         call @h({{%.*}}) : (memref<8xf32, strided<[?], offset: ?>>) -> f32
func.func private @g(%x: tensor<4xf32>) -> f32
func.func @calls(%a: tensor<4xf32>) -> f32 {
  %r = call @g(%a) : (tensor<4xf32>) -> f32
  return %r : f32
}
module @inner {
  func.func private @g(%x: tensor<8xf32>) -> f32
  func.func private @h(%x: tensor<8xf32>) -> f32
  func.func @f(%a: tensor<8xf32>) -> f32 {
    %r = call @g(%a) : (tensor<8xf32>) -> f32
    %s = call @h(%a) : (tensor<8xf32>) -> f32
    %t = arith.addf %r, %s : f32
    return %t : f32
  }
}
