// Padding that is computed with tensors.
func.func @main(%x: tensor<3xi32>, %y: tensor<2xi32>) -> tensor<5xi32> {
  %z = arith.constant 0 : index
  %r = tensor.pad %x low[2] high[0] { ^bb0(%i: index):
    %s = tensor.extract_slice %y[%i][1][1] : tensor<2xi32> to tensor<1xi32>
    %s2 = arith.addi %s, %s : tensor<1xi32>
    %c = tensor.extract %s2[%z] : tensor<1xi32>
    tensor.yield %c : i32 } : tensor<3xi32> to tensor<5xi32>
  return %r : tensor<5xi32>
}
