// A value is inserted into a tensor, and a part of its elements in other rows is overwritten.
func.func @main(%a0: tensor<6x4xi32> {hotdesk.donated}) -> (tensor<6x4xi32>, tensor<2x3xi32>) {
  %s = arith.constant 5 : i32
  %x = tensor.extract_slice %a0[0, 0][2, 3][1, 1] : tensor<6x4xi32> to tensor<2x3xi32>
  %e = tensor.empty() : tensor<2x3xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xi32>) outs(%e : tensor<2x3xi32>) {
  ^bb0(%v69: i32, %v70: i32):
    %v71 = arith.muli %v69, %v69 : i32
    linalg.yield %v71 : i32
  } -> tensor<2x3xi32>
  %z = tensor.insert_slice %y into %a0[0, 0][2, 3][1, 1] : tensor<2x3xi32> into tensor<6x4xi32>
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<2x3xi32> into tensor<6xi32>
  %d = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xi32> into tensor<3x2xi32>
  %q = tensor.extract_slice %d[0, 0][1, 2][1, 1] : tensor<3x2xi32> to tensor<1x2xi32>
  %qq = linalg.fill ins(%s : i32) outs(%q : tensor<1x2xi32>) -> tensor<1x2xi32>
  %w = tensor.insert_slice %qq into %d[0, 0][1, 2][1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
  %c2 = tensor.collapse_shape %w [[0, 1]] : tensor<3x2xi32> into tensor<6xi32>
  %d2 = tensor.expand_shape %c2 [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>
  return %z, %d2 : tensor<6x4xi32>, tensor<2x3xi32>
}
