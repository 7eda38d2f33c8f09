// What an iteration makes is passed on, and a destination from outside names no buffer for it: the last one is still read.
// given: 3
func.func @main(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = arith.constant 5 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%s : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %f) -> (tensor<4xi32>) {
    %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y, %a : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %t = arith.addi %p, %q : i32
      linalg.yield %t : i32
    } -> tensor<4xi32>
    scf.yield %new : tensor<4xi32>
  }
  %after = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%p: i32, %o: i32):
    %t = arith.addi %p, %s : i32
    linalg.yield %t : i32
  } -> tensor<4xi32>
  return %r, %after : tensor<4xi32>, tensor<4xi32>
}
