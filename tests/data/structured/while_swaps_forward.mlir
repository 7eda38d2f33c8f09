// The condition of a loop swaps two tensors on their way to the body, of which one is overwritten.
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32> {hotdesk.donated}) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.while (%i = %c0, %p = %x, %q = %y) : (index, tensor<4xi32>, tensor<4xi32>) -> (index, tensor<4xi32>, tensor<4xi32>) {
    %c = arith.cmpi slt, %i, %c3 : index
    scf.condition(%c) %i, %q, %p : index, tensor<4xi32>, tensor<4xi32>
  } do {
  ^bb0(%i: index, %p: tensor<4xi32>, %q: tensor<4xi32>):
    %j = arith.addi %i, %c1 : index
    %s = linalg.map { arith.addi } ins(%p, %q : tensor<4xi32>, tensor<4xi32>) outs(%p : tensor<4xi32>)
    scf.yield %j, %s, %q : index, tensor<4xi32>, tensor<4xi32>
  }
  %e = tensor.empty() : tensor<4xi32>
  %t = linalg.map { arith.muli } ins(%r#1, %r#1 : tensor<4xi32>, tensor<4xi32>) outs(%r#1 : tensor<4xi32>)
  %u = linalg.map { arith.subi } ins(%t, %r#2 : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>)
  return %t, %u : tensor<4xi32>, tensor<4xi32>
}
