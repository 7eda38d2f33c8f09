// Each iteration makes new memory from what the one before passed on; two arguments, the second of which gets the first.
// given: 3
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32> {hotdesk.donated}, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xi32>, tensor<4xi32>) {
    %e = tensor.empty() : tensor<4xi32>
    %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %s = arith.addi %p, %q : i32
      linalg.yield %s : i32
    } -> tensor<4xi32>
    scf.yield %z, %x : tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
