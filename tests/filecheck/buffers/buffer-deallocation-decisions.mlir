// RUN: %hotdesk-opt %s --hotdesk-buffer-deallocation --print-decisions 2>&1 | FileCheck %s

// Whatever is freed has a decision: what a loop passes on, too, under a flag where only some paths own it.
// CHECK-DAG:   decision: allocation: freed: live-range-ended, 8 bytes (memref.copy at
// CHECK-DAG:   decision: buffer: freed: freed-if-owned, 8 bytes (memref.copy at {{.*}}decisions.mlir:30:3)
// CHECK-DAG:   decision: buffer: freed: freed-if-owned, 8 bytes (scf.yield at {{.*}}decisions.mlir:23:7)
// CHECK-DAG:   decision: buffer: freed: live-range-ended, 16 bytes (memref.copy at
// CHECK-LABEL: func.func @loop_nested_if(
// CHECK:         [[R:%.*]]:2 = scf.for {{.*}} iter_args([[U:%.*]] = {{.*}}, [[OWNED:%.*]] = %false)
// CHECK:         scf.if [[OWNED]]
// CHECK-NEXT:      memref.dealloc [[U]]
// CHECK:         memref.copy [[R]]#0
// CHECK-NEXT:    scf.if [[R]]#1
// CHECK-NEXT:      memref.dealloc [[R]]#0
func.func @loop_nested_if(%lb: index, %ub: index, %step: index, %buf: memref<2xf32>, %res: memref<2xf32>, %f: f32) {
  %0 = scf.for %i = %lb to %ub step %step iter_args(%iterBuf = %buf) -> memref<2xf32> {
    %1 = arith.cmpi eq, %i, %lb : index
    %2 = scf.if %1 -> (memref<2xf32>) {
      %3 = memref.alloc() : memref<2xf32>
      linalg.fill ins(%f : f32) outs(%3 : memref<2xf32>)
      scf.yield %3 : memref<2xf32>
    } else {
      scf.yield %iterBuf : memref<2xf32>
    }
    %4 = memref.alloc() : memref<2xf32>
    memref.copy %2, %4 : memref<2xf32> to memref<2xf32>
    memref.copy %4, %res : memref<2xf32> to memref<2xf32>
    scf.yield %2 : memref<2xf32>
  }
  memref.copy %0, %res : memref<2xf32> to memref<2xf32>
  return
}

// What a call returns belongs to who called.
func.func @called(%x: memref<4xf32>, %out: memref<4xf32>) {
  %0 = func.call @make(%x) : (memref<4xf32>) -> memref<4xf32>
  memref.copy %0, %out : memref<4xf32> to memref<4xf32>
  return
}
func.func private @make(memref<4xf32>) -> memref<4xf32>
