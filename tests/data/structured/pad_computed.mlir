// Padding that depends on the position.
func.func @main(%x: tensor<3x4xi32>) -> tensor<6x7xi32> {
  %r = tensor.pad %x low[1,2] high[2,1] { ^bb0(%i: index, %j: index): %a = arith.addi %i, %j : index
    %c = arith.index_cast %a : index to i32
    tensor.yield %c : i32 } : tensor<3x4xi32> to tensor<6x7xi32>
  return %r : tensor<6x7xi32>
}
