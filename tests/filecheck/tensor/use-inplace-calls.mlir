// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-use-inplace-calls --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=TOLD

// The second op overwrites what the first one made; the caller's argument is not overwritten.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>)
// CHECK:         [[Y1:%.*]] = linalg.add ins([[X]], [[X]] : {{.*}}) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.mul ins([[Y1]], [[X]] : {{.*}}) outs([[Y1]] :
// TOLD:          remark: [Missed] ALLOCATED | {{.*}}Function=main | Reason=not-writable-input, Bytes=32, Subject="result of linalg.add"
// TOLD:          remark: [Passed] IN_PLACE | {{.*}}Function=main | Reason=dies-here, Bytes=32, Subject="result of linalg.mul"
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y1 = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y2 = linalg.mul ins(%y1, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %y2 : tensor<8xf32>
}

// -----

// An argument that is given away is overwritten by its last reader.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         [[Y:%.*]] = linalg.exp ins([[X]] : tensor<8xf32>) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.add ins([[Y]], [[X]] : {{.*}}) outs([[X]] :
func.func @given(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%y, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A later reader forbids it, and is named.
// CHECK-LABEL: func.func @later(
// CHECK:         [[A:%.*]] = linalg.exp
// CHECK-NEXT:    [[B:%.*]] = linalg.log ins([[A]] : tensor<8xf32>) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.add ins([[B]], [[A]] : {{.*}}) outs([[B]] :
// TOLD:          remark: [Missed] ALLOCATED | {{.*}}Function=later | Reason=read-later, {{.*}}Subject="result of linalg.log"{{.*}}linalg.add
func.func @later(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.log ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%b, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Another element type or another size does not fit.
// CHECK-LABEL: func.func @type(
// CHECK:         linalg.generic {{.*}} outs(%{{[0-9]+}} : tensor<8xi32>)
// TOLD:          Function=type | Reason=different-element-type
func.func @type(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: f32, %o: i32):
    %t = arith.fptosi %a : f32 to i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// -----

// An argument that is given away is overwritten, and what lies there then is overwritten again.
// CHECK-LABEL: func.func @given_twice(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         [[Y:%.*]] = linalg.add ins([[X]], [[X]] : {{.*}}) outs([[X]] :
// CHECK-NEXT:    linalg.exp ins([[Y]] : {{.*}}) outs([[Y]] :
// TOLD-COUNT-2:  Function=given_twice | Reason=dies-here
func.func @given_twice(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Of a larger operand and one of another element type, the latter comes closest.
// CHECK-LABEL: func.func @larger(
// CHECK:         linalg.generic {{.*}} outs(%{{[0-9]+}} : tensor<8xf32>)
// TOLD:          Function=larger | Reason=different-element-type
func.func @larger(%x: tensor<16xf32> {hotdesk.donated}, %y: tensor<8xi32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x, %y : tensor<16xf32>, tensor<8xi32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %c = arith.sitofp %b : i32 to f32
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A number does not have room for eight.
// CHECK-LABEL: func.func @smaller(
// CHECK:         linalg.broadcast {{.*}} outs(%{{[0-9]+}} :
// TOLD:          Function=smaller | Reason=no-dead-operand-of-same-size
func.func @smaller(%x: tensor<f32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<8xf32>) dimensions = [0]
  return %r : tensor<8xf32>
}

// -----

// No elements, and no dimensions.
// CHECK-LABEL: func.func @small(
// CHECK:         [[A:%.*]] = linalg.exp ins(%{{.*}} : tensor<0xf32>) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.log ins([[A]] : tensor<0xf32>) outs([[A]] :
// CHECK:         [[C:%.*]] = linalg.exp ins(%{{.*}} : tensor<f32>) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.log ins([[C]] : tensor<f32>) outs([[C]] :
// TOLD:          Function=small | Reason=not-writable-input
// TOLD:          Function=small | Reason=dies-here
// TOLD:          Function=small | Reason=not-writable-input
// TOLD:          Function=small | Reason=dies-here
func.func @small(%x: tensor<0xf32>, %y: tensor<f32>) -> (tensor<0xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<0xf32>
  %a = linalg.exp ins(%x : tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  %b = linalg.log ins(%a : tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  %i = tensor.empty() : tensor<f32>
  %c = linalg.exp ins(%y : tensor<f32>) outs(%i : tensor<f32>) -> tensor<f32>
  %d = linalg.log ins(%c : tensor<f32>) outs(%i : tensor<f32>) -> tensor<f32>
  return %b, %d : tensor<0xf32>, tensor<f32>
}

// -----

// Sizes that are known when it runs, of one symbol.
// CHECK-LABEL: func.func @open(
// CHECK:         [[A:%.*]] = linalg.exp ins(%{{.*}} : tensor<?xf32>) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.mul ins([[A]], %{{.*}}) outs([[A]] :
// TOLD:          Function=open | Reason=not-writable-input
// TOLD:          Function=open | Reason=dies-here
func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.mul ins(%a, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Of two equal ops one is left, and the readers of both decide what may be overwritten.
// CHECK-LABEL: func.func @equal(
// CHECK:         [[A:%.*]] = linalg.exp
// CHECK-NOT:     linalg.exp
// CHECK:         [[C:%.*]] = linalg.log ins([[A]] : {{.*}}) outs(%{{[0-9]+}} :
// CHECK-NEXT:    linalg.add ins([[C]], [[A]] : {{.*}}) outs([[C]] :
// TOLD:          Function=equal | Reason=not-writable-input
// TOLD:          Function=equal | Reason=read-later
// TOLD:          Function=equal | Reason=dies-here
func.func @equal(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.log ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%c, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A transposition reads other elements than it writes.
// CHECK-LABEL: func.func @turned(
// CHECK:         linalg.transpose {{.*}} outs(%{{[0-9]+}} :
// TOLD:          Function=turned | Reason=read-by-same-op
func.func @turned(%x: tensor<4x4xf32> {hotdesk.donated}) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  return %r : tensor<4x4xf32>
}
