// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sink-concat --cse | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sink-concat --remarks-filter=fuse 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sink-concat="max-operands=1" --print-decisions 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sink-concat="max-operands=2" --print-decisions 2>&1 | FileCheck %s --check-prefix=TWO
// ONE: decision: result of tensor.concat: not fused: too-many-operands
// TWO: decision: result of tensor.concat: fused: read-in-parts

// WHY: remark: [Passed] FUSED | Category:fuse | Function=two_parts | Reason=read-in-parts, Bytes=128
// CHECK-LABEL: func.func @two_parts(
// CHECK-SAME:    [[A:%.*]]: tensor<4x3xf32>, [[B:%.*]]: tensor<4x5xf32>, [[X:%.*]]: tensor<1x8xf32>)
// CHECK:         [[X0:%.*]] = tensor.extract_slice [[X]][0, 0] [1, 3] [1, 1] : tensor<1x8xf32> to tensor<1x3xf32>
// CHECK:         [[R0:%.*]] = linalg.generic {{.*}} ins([[A]], [[X0]] : tensor<4x3xf32>, tensor<1x3xf32>)
// CHECK:         [[X1:%.*]] = tensor.extract_slice [[X]][0, 3] [1, 5] [1, 1] : tensor<1x8xf32> to tensor<1x5xf32>
// CHECK:         [[R1:%.*]] = linalg.generic {{.*}} ins([[B]], [[X1]] : tensor<4x5xf32>, tensor<1x5xf32>)
// CHECK:         [[R:%.*]] = tensor.concat dim(1) [[R0]], [[R1]] : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    return [[R]]
#m = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (0, d1)>
func.func @two_parts(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %x: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %c = tensor.concat dim(1) %a, %b : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#m, #row, #m], iterator_types = ["parallel", "parallel"]} ins(%c, %x : tensor<4x8xf32>, tensor<1x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Differences of neighbours: one slice lies in %b, the other one begins in %a.
// CHECK-LABEL: func.func @neighbours(
// CHECK-SAME:    [[A:%.*]]: tensor<1xf32>, [[B:%.*]]: tensor<8xf32>)
// CHECK-DAG:     [[B0:%.*]] = tensor.extract_slice [[B]][0] [1] [1] : tensor<8xf32> to tensor<1xf32>
// CHECK-DAG:     [[B1:%.*]] = tensor.extract_slice [[B]][1] [7] [1] : tensor<8xf32> to tensor<7xf32>
// CHECK-DAG:     [[B2:%.*]] = tensor.extract_slice [[B]][0] [7] [1] : tensor<8xf32> to tensor<7xf32>
// CHECK-DAG:     linalg.generic {{.*}} ins([[B0]], [[A]] : tensor<1xf32>, tensor<1xf32>)
// CHECK-DAG:     linalg.generic {{.*}} ins([[B1]], [[B2]] : tensor<7xf32>, tensor<7xf32>)
// CHECK:         tensor.concat dim(0) {{.*}} : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
#v = affine_map<(d0) -> (d0)>
func.func @neighbours(%a: tensor<1xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %now = tensor.extract_slice %c[1] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %before = tensor.extract_slice %c[0] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%now, %before : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.subf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The position along the axis is read.
// WHY: remark: [Missed] NOT_FUSED | Category:fuse | Function=position | Reason=position-read
// CHECK-LABEL: func.func @position(
// CHECK:         tensor.concat
// CHECK:         linalg.index 0
#v = affine_map<(d0) -> (d0)>
func.func @position(%a: tensor<2xindex>, %b: tensor<3xindex>) -> tensor<5xindex> {
  %c = tensor.concat dim(0) %a, %b : (tensor<2xindex>, tensor<3xindex>) -> tensor<5xindex>
  %e = tensor.empty() : tensor<5xindex>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%c : tensor<5xindex>) outs(%e : tensor<5xindex>) {
  ^bb0(%i: index, %o: index):
    %p = linalg.index 0 : index
    %s = arith.addi %i, %p : index
    linalg.yield %s : index
  } -> tensor<5xindex>
  return %r : tensor<5xindex>
}

// -----

// WHY: remark: [Missed] NOT_FUSED | Category:fuse | Function=sum | Reason=not-elementwise
// CHECK-LABEL: func.func @sum(
// CHECK:         tensor.concat
// CHECK:         iterator_types = ["reduction"]
#v = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>
func.func @sum(%a: tensor<2xf32>, %b: tensor<3xf32>, %z: tensor<f32>) -> tensor<f32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#v, #s], iterator_types = ["reduction"]} ins(%c : tensor<5xf32>) outs(%z : tensor<f32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A diagonal is not one loop for each dimension.
// WHY: remark: [Missed] NOT_FUSED | Category:fuse | Function=diagonal | Reason=not-a-permutation
// CHECK-LABEL: func.func @diagonal(
// CHECK:         tensor.concat
#d = affine_map<(d0) -> (d0, d0)>
#v = affine_map<(d0) -> (d0)>
func.func @diagonal(%a: tensor<5xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>, %m: tensor<5x5xf32>) -> tensor<5xf32> {
  %j = tensor.concat dim(0) %b, %c : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#v, #d, #v], iterator_types = ["parallel"]} ins(%j, %m : tensor<5xf32>, tensor<5x5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// WHY: remark: [Missed] NOT_FUSED | Category:fuse | Function=dynamic | Reason=size-not-static
// CHECK-LABEL: func.func @dynamic(
// CHECK:         tensor.concat
#v = affine_map<(d0) -> (d0)>
func.func @dynamic(%a: tensor<?xf32>, %b: tensor<3xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%c : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Another dimension is dynamic: its size comes from the operand.
// CHECK-LABEL: func.func @dynamic_rows(
// CHECK-SAME:    [[A:%.*]]: tensor<?x3xf32>, [[B:%.*]]: tensor<?x2xf32>, [[D:%.*]]: tensor<?x5xf32>)
// CHECK:         [[D0:%.*]] = tensor.extract_slice [[D]][0, 0] [{{%.*}}, 3] [1, 1] : tensor<?x5xf32> to tensor<?x3xf32>
// CHECK:         linalg.generic {{.*}} ins([[A]] : tensor<?x3xf32>) outs([[D0]] : tensor<?x3xf32>)
// CHECK:         [[D1:%.*]] = tensor.extract_slice [[D]][0, 3] [{{%.*}}, 2] [1, 1] : tensor<?x5xf32> to tensor<?x2xf32>
// CHECK:         linalg.generic {{.*}} ins([[B]] : tensor<?x2xf32>) outs([[D1]] : tensor<?x2xf32>)
#m = affine_map<(d0, d1) -> (d0, d1)>
func.func @dynamic_rows(%a: tensor<?x3xf32>, %b: tensor<?x2xf32>, %d: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %c = tensor.concat dim(1) %a, %b : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x5xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<?x5xf32>) outs(%d : tensor<?x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

// -----

// Named ops stay named ops.
// CHECK-LABEL: func.func @named(
// CHECK-SAME:    [[A:%.*]]: tensor<4x3xf32>, [[B:%.*]]: tensor<4x5xf32>, [[X:%.*]]: tensor<4x8xf32>)
// CHECK:         [[E0:%.*]] = linalg.exp ins([[A]] : tensor<4x3xf32>)
// CHECK:         [[E1:%.*]] = linalg.exp ins([[B]] : tensor<4x5xf32>)
// CHECK:         [[R0:%.*]] = linalg.add ins([[E0]], {{%.*}} : tensor<4x3xf32>, tensor<4x3xf32>)
// CHECK:         [[R1:%.*]] = linalg.add ins([[E1]], {{%.*}} : tensor<4x5xf32>, tensor<4x5xf32>)
// CHECK:         [[T0:%.*]] = linalg.transpose ins([[R0]] : tensor<4x3xf32>) outs({{%.*}} : tensor<3x4xf32>) permutation = [1, 0]
// CHECK:         [[T1:%.*]] = linalg.transpose ins([[R1]] : tensor<4x5xf32>) outs({{%.*}} : tensor<5x4xf32>) permutation = [1, 0]
// CHECK:         tensor.concat dim(0) [[T0]], [[T1]] : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
func.func @named(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %c = tensor.concat dim(1) %a, %b : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %y = linalg.exp ins(%c : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = linalg.add ins(%y, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = linalg.transpose ins(%z : tensor<4x8xf32>) outs(%f : tensor<8x4xf32>) permutation = [1, 0]
  return %t : tensor<8x4xf32>
}

// -----

// An operand without elements is no part.
// CHECK-LABEL: func.func @nothing_in_front(
// CHECK:         linalg.generic {{.*}} ins({{%.*}}, {{%.*}} : tensor<8xf32>, tensor<8xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
#l = affine_map<(d0) -> (d0)>
func.func @nothing_in_front(%a: tensor<0xf32>, %b: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<0xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#l, #l, #l], iterator_types = ["parallel"]} ins(%c, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
