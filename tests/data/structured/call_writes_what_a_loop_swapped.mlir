// A loop of the callee gives the memory of either argument to the other one: what is written behind it may be either.
// given: 1
func.func private @swap(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 7 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xi32>, tensor<4xi32>) {
    scf.yield %b, %a : tensor<4xi32>, tensor<4xi32>
  }
  %w = tensor.insert %k into %r#1[%c0] : tensor<4xi32>
  return %w : tensor<4xi32>
}
func.func @main(%p: tensor<4xi32> {hotdesk.donated}, %q: tensor<4xi32> {hotdesk.donated}, %n: index)
    -> (tensor<4xi32>, tensor<4xi32>) {
  %w = func.call @swap(%p, %q, %n) : (tensor<4xi32>, tensor<4xi32>, index) -> tensor<4xi32>
  return %w, %p : tensor<4xi32>, tensor<4xi32>
}
