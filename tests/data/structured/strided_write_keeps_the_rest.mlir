// An op writes every other element over a tensor and reads none: the others have to be what they were.
func.func @main(%a: tensor<4xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %seven = arith.constant 7 : i32
  %nine = arith.constant 9 : i32
  %e = tensor.empty() : tensor<8xi32>
  %x = linalg.fill ins(%seven : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %z = linalg.fill ins(%nine : i32) outs(%x : tensor<8xi32>) -> tensor<8xi32>
  %f = tensor.empty() : tensor<8xi32>
  %z2 = linalg.add ins(%z, %z : tensor<8xi32>, tensor<8xi32>) outs(%f : tensor<8xi32>) -> tensor<8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%x : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    linalg.yield %i : i32
  } -> tensor<8xi32>
  return %y, %z2 : tensor<8xi32>, tensor<8xi32>
}
