// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --remarks-filter-missed=share 2>&1 | FileCheck %s

// Nothing lives when the second one is made: the first one is too small, and there was none before the first one.
// CHECK:       share-buffers-remarks.mlir:11:8: remark: [Missed] ALLOCATED | Category:share | Function=f | Reason=nothing-to-share, Bytes=40
// CHECK:       share-buffers-remarks.mlir:15:8: remark: [Missed] ALLOCATED | Category:share | Function=f | Reason=too-small, Bytes=400
// CHECK-SAME:  Hint="It needs 400 bytes; `memref.alloc` ({{.*}}share-buffers-remarks.mlir:11:8) has 40."
// CHECK-SAME:  Condition="condition 2 {{.*}}the slot has as many bytes, or more{{.*}} of docs/passes/hotdesk-share-buffers.md"
// CHECK-LABEL: func.func @f(
// CHECK-COUNT-2: memref.alloc()
func.func @f(%x: memref<10xf32>, %y: memref<100xf32>) {
  %a = memref.alloc() : memref<10xf32>
  linalg.exp ins(%x : memref<10xf32>) outs(%a : memref<10xf32>)
  linalg.exp ins(%a : memref<10xf32>) outs(%x : memref<10xf32>)
  memref.dealloc %a : memref<10xf32>
  %c = memref.alloc() : memref<100xf32>
  linalg.exp ins(%y : memref<100xf32>) outs(%c : memref<100xf32>)
  linalg.exp ins(%c : memref<100xf32>) outs(%y : memref<100xf32>)
  memref.dealloc %c : memref<100xf32>
  return
}

// -----

// Of two sizes that are not known, neither is proven to be enough for the other one.
// CHECK:       Function=unproven | Reason=nothing-to-share, Bytes=4*s0
// CHECK:       Function=unproven | Reason=size-not-proven, Bytes=4*s1
// CHECK-SAME:  Hint="It needs 4*s1 bytes; `memref.alloc` ({{.*}}) has 4*s0."
// CHECK-LABEL: func.func @unproven(
func.func @unproven(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %y: memref<?xf32> {hotdesk.shape = ["s1"]}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %n = memref.dim %y, %c0 : memref<?xf32>
  %a = memref.alloc(%m) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  linalg.exp ins(%a : memref<?xf32>) outs(%x : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%y : memref<?xf32>) outs(%c : memref<?xf32>)
  linalg.exp ins(%c : memref<?xf32>) outs(%y : memref<?xf32>)
  memref.dealloc %c : memref<?xf32>
  return
}

// -----

// One that is large enough is in use, another one is free and too small: the first one is the reason.
// CHECK:       Function=in_use | Reason=nothing-to-share, Bytes=40
// CHECK:       Function=in_use | Reason=too-small, Bytes=400
// CHECK:       Function=in_use | Reason=live-at-the-same-time, Bytes=400
// CHECK-NOT:   Hint
// CHECK-SAME:  Because="memref.alloc at {{.*}}", Because="memref.alloc at
// CHECK-LABEL: func.func @in_use(
func.func @in_use(%x: memref<10xf32>, %y: memref<100xf32>) {
  %a = memref.alloc() : memref<10xf32>
  linalg.exp ins(%x : memref<10xf32>) outs(%a : memref<10xf32>)
  linalg.exp ins(%a : memref<10xf32>) outs(%x : memref<10xf32>)
  memref.dealloc %a : memref<10xf32>
  %c = memref.alloc() : memref<100xf32>
  linalg.exp ins(%y : memref<100xf32>) outs(%c : memref<100xf32>)
  %d = memref.alloc() : memref<100xf32>
  linalg.exp ins(%c : memref<100xf32>) outs(%d : memref<100xf32>)
  linalg.exp ins(%d : memref<100xf32>) outs(%c : memref<100xf32>)
  linalg.exp ins(%c : memref<100xf32>) outs(%y : memref<100xf32>)
  memref.dealloc %c : memref<100xf32>
  memref.dealloc %d : memref<100xf32>
  return
}
