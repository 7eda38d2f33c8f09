// Each element is computed from another tensor.
// given: 3
func.func @main(%x: tensor<3x4xi32>, %n: index) -> tensor<?x4xi32> {
  %r = tensor.generate %n { ^bb0(%i: index, %j: index):
    %c = tensor.extract %x[%i, %j] : tensor<3x4xi32>
    %k = arith.index_cast %i : index to i32
    %d = arith.addi %c, %k : i32
    tensor.yield %d : i32 } : tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}
