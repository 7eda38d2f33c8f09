// A later block writes an argument of the function, which is a result too.
// given: 1
func.func @main(%a: tensor<4xf32> {hotdesk.donated}, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  cf.cond_br %c, ^one, ^two
^one:
  %w = tensor.insert %s into %a[%c1] : tensor<4xf32>
  cf.br ^end(%w : tensor<4xf32>)
^two:
  cf.br ^end(%a : tensor<4xf32>)
^end(%r: tensor<4xf32>):
  return %r, %a : tensor<4xf32>, tensor<4xf32>
}
