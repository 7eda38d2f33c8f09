// A vector is read, changed and written elsewhere in the same tensor.
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %v = vector.transfer_read %a[%c2], %s {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  %t = vector.transfer_write %w, %a[%c1] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %c6 = arith.constant 6 : index
  %u = vector.transfer_read %t[%c6], %s : tensor<8xf32>, vector<4xf32>
  %r = vector.transfer_write %u, %t[%c3] : vector<4xf32>, tensor<8xf32>
  return %r, %t : tensor<8xf32>, tensor<8xf32>
}
