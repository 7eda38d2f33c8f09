// Vectors gathered and scattered, in memory whose layout is known.
func.func @main(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %i = arith.constant dense<[3, 1, 7, 2]> : vector<4xindex>
  %k = arith.constant dense<[true, true, false, true]> : vector<4xi1>
  %p = arith.constant dense<5> : vector<4xi32>
  %s = arith.addi %x, %y : tensor<8xi32>
  %v = vector.gather %s[%c0][%i], %k, %p : tensor<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  %r = vector.scatter %s[%c0][%i], %k, %v : tensor<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> -> tensor<8xi32>
  %q = vector.scatter %y[%c0][%i], %k, %p : tensor<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> -> tensor<8xi32>
  %t = arith.addi %r, %q : tensor<8xi32>
  return %t : tensor<8xi32>
}
