// Tiles of tiles, in loops whose tensor is a tile: nothing is copied in a loop.
func.func @main(%x: tensor<8x8xf32> {hotdesk.donated}) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%t = %x) -> tensor<8x8xf32> {
    %a = tensor.extract_slice %t[%i, 0][4, 8][1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
    %q = scf.for %j = %c0 to %c8 step %c2 iter_args(%u = %a) -> tensor<4x8xf32> {
      %b = tensor.extract_slice %u[0, %j][4, 2][1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
      %1 = linalg.exp ins(%b : tensor<4x2xf32>) outs(%b : tensor<4x2xf32>) -> tensor<4x2xf32>
      %c = tensor.insert_slice %1 into %u[0, %j][4, 2][1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
      scf.yield %c : tensor<4x8xf32>
    }
    %d = tensor.insert_slice %q into %t[%i, 0][4, 8][1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
