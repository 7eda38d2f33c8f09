// A part of a tensor is seen with other dims, and a part of that is overwritten.
// given: 4, 0, 1, 2
func.func @main(%a0: tensor<?xi32> {hotdesk.donated}, %k0: index, %k1: index, %k2: index) -> (tensor<?xi32>, tensor<?xi32>, tensor<1x3xi32>) {
  %v67 = arith.constant 3 : index
  %v37 = arith.addi %a0, %a0 : tensor<?xi32>
  %v68 = tensor.extract_slice %v37[1][%v67][1] : tensor<?xi32> to tensor<?xi32>
  %v72 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a0 : tensor<?xi32>) outs(%v37 : tensor<?xi32>) {
  ^bb0(%v69: i32, %v70: i32):
    %v71 = arith.muli %v69, %v70 : i32
    linalg.yield %v71 : i32
  } -> tensor<?xi32>
  %v78 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v68, %v68 : tensor<?xi32>, tensor<?xi32>) outs(%v68 : tensor<?xi32>) {
  ^bb0(%v73: i32, %v74: i32, %v75: i32):
    %v76 = arith.maxsi %v73, %v74 : i32
    %v77 = arith.muli %v76, %v75 : i32
    linalg.yield %v77 : i32
  } -> tensor<?xi32>
  %v79 = tensor.extract_slice %v78[0][3][1] : tensor<?xi32> to tensor<3xi32>
  %v80 = tensor.insert_slice %v79 into %v78[0][3][1] : tensor<3xi32> into tensor<?xi32>
  %v81 = tensor.expand_shape %v79 [[0, 1]] output_shape [1, 3] : tensor<3xi32> into tensor<1x3xi32>
  %v82 = tensor.insert_slice %v81 into %v81[%k0, 0][1, 3][1, 1] : tensor<1x3xi32> into tensor<1x3xi32>
  return %v72, %v80, %v82 : tensor<?xi32>, tensor<?xi32>, tensor<1x3xi32>
}
