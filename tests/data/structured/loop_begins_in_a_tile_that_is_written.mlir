// A loop that starts from a tile passes on new memory, and writes what the tile is of.
// given: 3
func.func @main(%a: tensor<6xi32> {hotdesk.donated}, %n: index) -> (tensor<2xi32>, tensor<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = arith.constant 7 : i32
  %t = tensor.extract_slice %a[1][2][2] : tensor<6xi32> to tensor<2xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t, %w = %a) -> (tensor<2xi32>, tensor<6xi32>) {
    %e = tensor.empty() : tensor<2xi32>
    %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (1 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<2xi32>) outs(%e : tensor<2xi32>) {
    ^bb0(%p: i32, %o: i32):
      %s = arith.addi %p, %k : i32
      linalg.yield %s : i32
    } -> tensor<2xi32>
    %w2 = tensor.insert_slice %z into %w[1][2][2] : tensor<2xi32> into tensor<6xi32>
    %u = tensor.extract_slice %w2[0][2][1] : tensor<6xi32> to tensor<2xi32>
    %v = linalg.add ins(%x, %u : tensor<2xi32>, tensor<2xi32>) outs(%u : tensor<2xi32>) -> tensor<2xi32>
    %w3 = tensor.insert_slice %v into %w2[0][2][1] : tensor<2xi32> into tensor<6xi32>
    scf.yield %z, %w3 : tensor<2xi32>, tensor<6xi32>
  }
  %g = tensor.extract %r#0[%c0] : tensor<2xi32>
  %q = tensor.insert %g into %r#1[%c2] : tensor<6xi32>
  return %r#0, %q : tensor<2xi32>, tensor<6xi32>
}
