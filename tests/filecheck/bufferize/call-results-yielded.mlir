// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=results=returned | FileCheck %s

// What calls return is passed on and returned as it is. Nothing is known of the functions: each gets a copy that it may write.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:      -> memref<4xf32> {
// CHECK:         [[R:%.*]] = scf.if
// CHECK:           [[A:%.*]] = func.call @g([[C:%.*]]) :
// CHECK-NEXT:      scf.yield [[A]]
// CHECK:           [[B:%.*]] = func.call @h([[D:%.*]]) :
// CHECK-NEXT:      scf.yield [[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[R]] : memref<4xf32>
func.func @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %a = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = func.call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func private @h(tensor<4xf32>) -> tensor<4xf32>

// Functions that only read get what there is.
// CHECK-LABEL: func.func @reading(
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @reading(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %a = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %d = func.call @k(%b) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @k(tensor<4xf32> {bufferization.access = "read"}) -> tensor<4xf32>
