// A slice of a slice is written and both are put back.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %p = tensor.extract_slice %a[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %q = tensor.extract_slice %p[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %f = linalg.fill ins(%s : f32) outs(%q : tensor<2xf32>) -> tensor<2xf32>
  %t = tensor.insert_slice %f into %p[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %r = tensor.insert_slice %t into %a[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
