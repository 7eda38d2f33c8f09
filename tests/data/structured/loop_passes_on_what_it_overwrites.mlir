// A loop passes on its argument as it is, and what is computed over it: each in memory of its own, and nothing is copied in it.
// given: 5, 7
func.func @main(%a: tensor<?xf32> {hotdesk.donated}, %b: tensor<?xf32> {hotdesk.donated}) -> (tensor<?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %r:2 = scf.for %i = %c1 to %c4 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf32>, tensor<?xf32>) {
    %z = linalg.fill ins(%one : f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %x, %z : tensor<?xf32>, tensor<?xf32>
  }
  %over = linalg.fill ins(%one : f32) outs(%r#0 : tensor<?xf32>) -> tensor<?xf32>
  return %over, %r#1 : tensor<?xf32>, tensor<?xf32>
}
