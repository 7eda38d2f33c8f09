// What is not fused is a remark of fusion as well, where the argument or the op is that forbids it.

// RUN: %hotdesk-opt %s --hotdesk-fuse-buffers --remarks-filter=fuse 2>&1 >%t.out | FileCheck %s

// CHECK:      remarks.mlir:11:17: remark: [Missed] NOT_FUSED | Category:fuse | Function=main | Reason=may-overlap, Bytes=32, Subject="result of linalg.generic", Because="argument 0 at {{.*}}remarks.mlir:11:17", Because="argument 2 at
// CHECK-NEXT: {{^}}func.func @main(
// CHECK-NEXT: {{^}}                ^
// CHECK-NOT:  remark:

#id = affine_map<(i) -> (i)>
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  }
  return
}
