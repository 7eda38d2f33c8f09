// An inner loop swaps its arguments, one of them for one of two: that is copied once in each iteration.
// given: 3
func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %two : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %in:2 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %new, %z = %a) -> (tensor<4xf32>, tensor<4xf32>) {
      %t = tensor.extract %y[%c1] : tensor<4xf32>
      %c = arith.cmpf olt, %t, %two : f32
      %k = arith.select %c, %y, %new : tensor<4xf32>
      scf.yield %z, %k : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %in#1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
