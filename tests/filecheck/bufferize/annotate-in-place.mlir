// RUN: %hotdesk-opt %s --hotdesk-test-inplace | FileCheck %s

// CHECK-LABEL: func.func @main(
// An argument that is copied first is only read; a scalar has no memory.
// CHECK-SAME:    %{{[^:]*}}: tensor<8xf32> {bufferization.access = "read"},
// CHECK-SAME:    %{{[^:]*}}: tensor<8xf32> {bufferization.access = "read-write", hotdesk.donated},
// CHECK-SAME:    %{{[^:]*}}: f32)
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

// What a function does with each argument: reads of a view count, writes through a result count, and what a write leaves of the
// contents counts as read.
// CHECK-LABEL: func.func @access(
// CHECK-SAME:    {bufferization.access = "read", hotdesk.kind = "weight"},
// CHECK-SAME:    {bufferization.access = "write", hotdesk.donated},
// CHECK-SAME:    {bufferization.access = "read-write", hotdesk.donated},
// CHECK-SAME:    {bufferization.access = "none"})
func.func @access(%read: tensor<2x4xf32> {hotdesk.kind = "weight"}, %written: tensor<8xf32> {hotdesk.donated},
                  %partly: tensor<16xf32> {hotdesk.donated}, %unused: tensor<8xf32>) -> tensor<16xf32> {
  %view = tensor.collapse_shape %read [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %a = linalg.map { math.tanh } ins(%view : tensor<8xf32>) outs(%written : tensor<8xf32>)
  %b = linalg.map { math.exp } ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>)
  %r = tensor.insert_slice %b into %partly[4] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}

// The part of %x that is read later is copied, so that %x can be overwritten.
// CHECK-LABEL: func.func @slice_instead(
// CHECK:         tensor.insert {{.*}}__inplace_operands_attr__ = ["none", "true", "none"]
func.func @slice_instead(%x: tensor<8xf32> {hotdesk.donated}, %s: f32, %i: index) -> (tensor<8xf32>, tensor<2xf32>) {
  %part = tensor.extract_slice %x[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %y = tensor.insert %s into %x[%i] : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %z, %part : tensor<8xf32>, tensor<2xf32>
}
