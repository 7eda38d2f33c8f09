// As `call_writes_what_a_loop_swapped`, with a loop of blocks.
// given: 1
func.func private @swap(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 7 : i32
  cf.br ^head(%c0, %x, %y : index, tensor<4xi32>, tensor<4xi32>)
^head(%i: index, %a: tensor<4xi32>, %b: tensor<4xi32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %b, %a : index, tensor<4xi32>, tensor<4xi32>)
^end:
  %w = tensor.insert %k into %b[%c0] : tensor<4xi32>
  return %w : tensor<4xi32>
}
func.func @main(%p: tensor<4xi32> {hotdesk.donated}, %q: tensor<4xi32> {hotdesk.donated}, %n: index)
    -> (tensor<4xi32>, tensor<4xi32>) {
  %w = func.call @swap(%p, %q, %n) : (tensor<4xi32>, tensor<4xi32>, index) -> tensor<4xi32>
  return %w, %p : tensor<4xi32>, tensor<4xi32>
}
