// A loop that starts from a tile and passes on new memory: what it ends with does not lie in the tile, and is put back.
func.func @main(%a0: tensor<6xi32> {hotdesk.donated}) -> (tensor<6xi32>) {
  %v56 = tensor.extract_slice %a0[0][2][2] : tensor<6xi32> to tensor<2xi32>
  %v57 = arith.constant 0 : index
  %v58 = arith.constant 1 : index
  %v116 = scf.for %v61 = %v57 to %v58 step %v58 iter_args(%v60 = %v56) -> (tensor<2xi32>) {
    %v103 = tensor.extract_slice %v60[%v61][1][1] : tensor<2xi32> to tensor<1xi32>
    %v108 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v103 : tensor<1xi32>) outs(%v103 : tensor<1xi32>) {
    ^bb0(%v104: i32, %v106: i32):
      %v107 = arith.addi %v104, %v104 : i32
      linalg.yield %v107 : i32
    } -> tensor<1xi32>
    %v109 = tensor.insert_slice %v108 into %v60[%v61][1][1] : tensor<1xi32> into tensor<2xi32>
    %v115 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v60, %v109 : tensor<2xi32>, tensor<2xi32>) outs(%v109 : tensor<2xi32>) {
    ^bb0(%v110: i32, %v111: i32, %v112: i32):
      %v113 = arith.addi %v110, %v111 : i32
      %v114 = arith.addi %v113, %v112 : i32
      linalg.yield %v114 : i32
    } -> tensor<2xi32>
    scf.yield %v109 : tensor<2xi32>
  }
  %v117 = tensor.insert_slice %v116 into %a0[0][2][2] : tensor<2xi32> into tensor<6xi32>
  return %v117 : tensor<6xi32>
}
