// RUN: %hotdesk-opt %s --hotdesk-copy-removal --remarks-filter=copy -o /dev/null 2>&1 | FileCheck %s --check-prefix=COPY
// RUN: %hotdesk-opt %s --hotdesk-share-buffers --remarks-filter=share -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: %hotdesk-opt %s --hotdesk-merge-allocations --remarks-filter=share -o /dev/null 2>&1 | FileCheck %s --check-prefix=MERGE
// RUN: %hotdesk-opt %s --hotdesk-buffer-hoisting --remarks-filter=place -o /dev/null 2>&1 | FileCheck %s --check-prefix=HOIST
// RUN: %hotdesk-opt %s --hotdesk-promote-buffers-to-stack --remarks-filter=place -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROMOTE
// RUN: %hotdesk-opt %s --hotdesk-copy-removal --hotdesk-share-buffers --hotdesk-promote-buffers-to-stack --remarks-filter=bufferize -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER --allow-empty

// What a pass refuses has the category of that pass, as what it does has.
// COPY-DAG: remark: [Passed] REMOVED | Category:copy | Function=reuseTarget |
// COPY-DAG: remark: [Missed] COPIED | Category:copy | Function=reuseTarget_neg1 | Reason=touched-between, Bytes=8
// SHARE-DAG: remark: [Missed] ALLOCATED | Category:share | Function=reuseTarget_neg1 | Reason=nothing-to-share
// SHARE-DAG: remark: [Missed] ALLOCATED | Category:share | Function=hoisted_not | Reason=used-across-blocks
// MERGE-DAG: remark: [Passed] SHARED | Category:share | Function=reuseTarget |
// MERGE-DAG: remark: [Missed] ALLOCATED | Category:share | Function=hoisted_not | Reason=size-defined-below
// HOIST: remark: [Missed] ALLOCATED | Category:place | Function=hoisted_not | Reason=size-defined-below
// PROMOTE-DAG: remark: [Passed] ON_STACK | Category:place | Function=reuseTarget |
// PROMOTE-DAG: remark: [Missed] ALLOCATED | Category:place | Function=hoisted_not | Reason=size-not-static
// OTHER-NOT: remark
func.func @reuseTarget(%arg0: memref<2xf32>, %result: memref<2xf32>) {
  %temp = memref.alloc() : memref<2xf32>
  linalg.exp ins(%arg0 : memref<2xf32>) outs(%temp : memref<2xf32>)
  linalg.copy ins(%temp : memref<2xf32>) outs(%result : memref<2xf32>)
  memref.dealloc %temp : memref<2xf32>
  return
}

// The target is read between the definition of the temporary and the copy.
func.func @reuseTarget_neg1(%arg0: memref<2xf32>, %result: memref<2xf32>) {
  %temp = memref.alloc() : memref<2xf32>
  linalg.exp ins(%arg0 : memref<2xf32>) outs(%temp : memref<2xf32>)
  linalg.add ins(%arg0, %result : memref<2xf32>, memref<2xf32>) outs(%arg0 : memref<2xf32>)
  memref.copy %temp, %result : memref<2xf32> to memref<2xf32>
  memref.dealloc %temp : memref<2xf32>
  return
}

func.func @hoisted_not(%p: i1, %x: memref<?xf32>, %n: index, %out: memref<?xf32>) {
  cf.cond_br %p, ^bb1, ^bb2(%n : index)
^bb1:
  cf.br ^bb3(%x : memref<?xf32>)
^bb2(%m: index):
  %a = memref.alloc(%m) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  cf.br ^bb3(%a : memref<?xf32>)
^bb3(%r: memref<?xf32>):
  memref.copy %r, %out : memref<?xf32> to memref<?xf32>
  return
}
