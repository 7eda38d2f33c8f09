// Memory that a tensor may be computed over, in one branch and in a loop.
// given: 3
func.func @main(%m: memref<4xi32> {hotdesk.donated}, %x: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : i32
  %t = bufferization.to_tensor %m restrict writable : memref<4xi32> to tensor<4xi32>
  %a = tensor.insert %c9 into %t[%c1] : tensor<4xi32>
  %c = arith.cmpi slt, %n, %c1 : index
  %b = scf.if %c -> tensor<4xi32> {
    scf.yield %a : tensor<4xi32>
  } else {
    %u = arith.addi %x, %x : tensor<4xi32>
    scf.yield %u : tensor<4xi32>
  }
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xi32> {
    %w = tensor.insert %c9 into %v[%i] : tensor<4xi32>
    scf.yield %w : tensor<4xi32>
  }
  return %b, %l : tensor<4xi32>, tensor<4xi32>
}
