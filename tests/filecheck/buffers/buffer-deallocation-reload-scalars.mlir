// RUN: %hotdesk-opt %s --pass-pipeline='builtin.module(hotdesk-buffer-deallocation{reload-scalars=true})' | FileCheck %s

// An op that uses a scalar touches what it is loaded from: its kernel does the loading.
// CHECK-LABEL: func.func @scalar(
// CHECK:         linalg.map { math.exp }
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.dealloc
func.func @scalar(%x: memref<8xf32>, %out: memref<8xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %s = memref.load %a[%i] : memref<8xf32>
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  linalg.fill ins(%s : f32) outs(%out : memref<8xf32>)
  return
}
