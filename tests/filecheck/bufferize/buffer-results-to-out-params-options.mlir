// RUN: %hotdesk-opt %s --pass-pipeline='builtin.module(hotdesk-buffer-results-to-out-params{add-result-attr=true modify-public-functions=true})' | FileCheck %s

// Without hoisting the allocation stays and is copied; sizes that are not static stay results.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32> {test.first}, [[N:%.*]]: index, [[OUT:%.*]]: memref<4xf32> {bufferize.result = 1 : i64}) -> memref<?xf32> {
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    [[B:%.*]] = memref.alloc([[N]]) : memref<?xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[A]] : memref<4xf32>) outs([[OUT]] : memref<4xf32>)
// CHECK:         return [[B]] : memref<?xf32>
func.func @main(%x: memref<4xf32> {test.first}, %n: index) -> (memref<?xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  return %b, %a : memref<?xf32>, memref<4xf32>
}
