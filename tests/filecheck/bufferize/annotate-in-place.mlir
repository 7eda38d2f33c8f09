// RUN: %hotdesk-opt %s --hotdesk-test-inplace | FileCheck %s

// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32> {hotdesk.donated}, %s: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  // An input of the caller's is not written.
  // CHECK:      linalg.map { math.tanh } {{.*}}__inplace_operands_attr__ = ["none", "false"]
  %a = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
  // A donated one is. Scalars and operands that are only read have no decision.
  // CHECK:      linalg.map { math.exp } {{.*}}__inplace_operands_attr__ = ["none", "true"]
  %b = linalg.map { math.exp } ins(%y : tensor<8xf32>) outs(%y : tensor<8xf32>)
  // %a is returned.
  // CHECK:      linalg.fill {__inplace_operands_attr__ = ["none", "false"]} ins({{%.*}} : f32) outs(
  %c = linalg.fill ins(%s : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  // CHECK:      linalg.map { arith.addf } {{.*}}__inplace_operands_attr__ = ["none", "none", "true"]
  %d = linalg.map { arith.addf } ins(%b, %c : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<8xf32>)
  // CHECK:      return
  // CHECK-NOT:  __inplace_operands_attr__
  return %a, %d : tensor<8xf32>, tensor<8xf32>
}
