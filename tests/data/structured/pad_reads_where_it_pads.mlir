// Padding that is read from a tensor which has elements only where padding is.
func.func @main(%x: tensor<3xi32>, %y: tensor<2xi32>) -> tensor<5xi32> {
  %r = tensor.pad %x low[2] high[0] { ^bb0(%i: index):
    %c = tensor.extract %y[%i] : tensor<2xi32>
    tensor.yield %c : i32 } : tensor<3xi32> to tensor<5xi32>
  return %r : tensor<5xi32>
}
