// RUN: %hotdesk-opt %s --split-input-file --verify-diagnostics --hotdesk-one-shot-bufferize

func.func @undeclared() -> f32 {
  // expected-error@+1 {{undeclared SSA value name}}
  return %x : f32
}
// -----
func.func @no_model(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re@below {{op `tosa.{{[a-z]+}}` has tensors but no model}}
  %0 = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @note(%x: f32) -> f32 {
  // expected-note@below {{prior use here}}
  %0 = arith.negf %x : f32
  %1 = arith.index_cast %0 : index to i32 // expected-error {{expects different type than prior uses}}
  return %x : f32
}
