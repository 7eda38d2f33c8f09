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

// What is yielded is taken as it is: the memory that it was loaded from goes in front.
// CHECK-LABEL: func.func @yielded(
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      memref.dealloc
// CHECK-NEXT:      scf.yield
func.func @yielded(%x: memref<4xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %f) -> f32 {
    %t = memref.alloc() : memref<4xf32>
    memref.copy %x, %t : memref<4xf32> to memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
    %s = arith.addf %v, %q : f32
    scf.yield %s : f32
  }
  return %r : f32
}

// A payload that yields it, and does nothing else with it, loads it as well.
// CHECK-LABEL: func.func @yielded_by_a_payload(
// CHECK:         memref.load
// CHECK-NOT:     memref.dealloc
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         memref.dealloc
func.func @yielded_by_a_payload(%x: memref<8xf32>, %out: memref<8xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.map { math.sqrt } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %s = memref.load %a[%i] : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%out : memref<8xf32>) {
  ^bb0(%old: f32):
    linalg.yield %s : f32
  }
  return
}
