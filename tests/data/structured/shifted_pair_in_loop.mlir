// A loop puts a part back one place further, so iterations meet.
// given: 6
func.func @main(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%x = %a) -> (tensor<8xf32>) {
    %p = tensor.extract_slice %x[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p : tensor<2xf32>) outs(%p : tensor<2xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<2xf32>
    %j = arith.addi %i, %c1 : index
    %t = tensor.insert_slice %w into %x[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
