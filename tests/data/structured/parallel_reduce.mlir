// A parallel loop that reads a tensor, which is overwritten behind it.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  %total = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init(%s) -> f32 {
    %v = tensor.extract %f[%i] : tensor<4xf32>
    scf.reduce(%v : f32) {
    ^bb0(%l: f32, %m: f32):
      %t = arith.addf %l, %m : f32
      scf.reduce.return %t : f32
    }
  }
  %r = tensor.insert %total into %f[%c0] : tensor<4xf32>
  return %r : tensor<4xf32>
}
