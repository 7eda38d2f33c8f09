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
