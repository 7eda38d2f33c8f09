// Constants of complex numbers are overwritten in part, read later and passed on.
// given: 2, 2
func.func @main(%c: f32, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %listed = arith.constant dense<[(1.0, 2.0), (3.0, -4.5), (5.0, 6.0), (7.0, 8.0)]> : tensor<4xcomplex<f32>>
  %repeated = arith.constant dense<(1.5, -2.0)> : tensor<4xcomplex<f32>>
  %scalar = complex.create %c, %c : complex<f32>
  %0 = tensor.insert %scalar into %listed[%n] : tensor<4xcomplex<f32>>
  %1 = tensor.insert %scalar into %repeated[%n] : tensor<4xcomplex<f32>>
  %2 = tensor.extract_slice %0[1] [2] [1] : tensor<4xcomplex<f32>> to tensor<2xcomplex<f32>>
  %3 = tensor.insert_slice %2 into %1[0] [2] [2] : tensor<2xcomplex<f32>> into tensor<4xcomplex<f32>>
  %4 = tensor.generate { ^bb0(%i: index):
    %x = tensor.extract %3[%i] : tensor<4xcomplex<f32>>
    %y = complex.im %x : complex<f32>
    tensor.yield %y : f32 } : tensor<4xf32>
  %5 = tensor.generate { ^bb0(%i: index):
    %x = tensor.extract %listed[%i] : tensor<4xcomplex<f32>>
    %y = complex.re %x : complex<f32>
    tensor.yield %y : f32 } : tensor<4xf32>
  %6 = tensor.generate { ^bb0(%i: index):
    %x = tensor.extract %1[%i] : tensor<4xcomplex<f32>>
    %y = complex.re %x : complex<f32>
    tensor.yield %y : f32 } : tensor<4xf32>
  return %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
