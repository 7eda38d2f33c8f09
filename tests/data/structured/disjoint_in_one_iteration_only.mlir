// Parts that never meet in one iteration, but do in the next: the source is a tensor from outside.
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c6 step %c2 iter_args(%x = %f) -> (tensor<8xf32>) {
    %j = arith.addi %i, %c2 : index
    %p = tensor.extract_slice %f[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %t = tensor.insert_slice %p into %x[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r, %r : tensor<8xf32>, tensor<8xf32>
}
