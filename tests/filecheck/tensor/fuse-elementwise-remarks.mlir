// What stays in memory is a remark of fusion, at the op that forbids it; it is none of bufferization.

// RUN: %hotdesk-opt %s --hotdesk-fuse-elementwise --remarks-filter=fuse 2>&1 >%t.out | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-fuse-elementwise --remarks-filter=bufferize 2>&1 >%t.out | FileCheck %s --check-prefix=NONE --allow-empty

// CHECK:      remarks.mlir:17:8: remark: [Missed] NOT_FUSED | Category:fuse | Function=main | Reason=producer-reduces, Bytes=16, Subject="result of linalg.generic", Because="linalg.generic at {{.*}}remarks.mlir:17:8"
// CHECK-NEXT: {{^}}  %a = linalg.generic
// CHECK-NEXT: {{^}}       ^
// CHECK-NOT:  remark:

// NONE-NOT:   remark:

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x3xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.exp %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
