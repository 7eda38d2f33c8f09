// A branch passes on what it writes over the result of a loop, or what went into the loop, which copies over its own memory.
// given: 0, 1, 2
func.func @main(%arg0: tensor<3xi32>, %arg1: index, %arg2: index, %arg3: index) -> (tensor<3xi32>) {
    %c-2_i32 = arith.constant -2 : i32
    %c1 = arith.constant 1 : index
    %c-1_i32 = arith.constant -1 : i32
    %c0 = arith.constant 0 : index
    %0 = tensor.empty() : tensor<3xi32>
    %3 = linalg.fill ins(%c-1_i32 : i32) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
    %4 = scf.for %arg4 = %arg1 to %arg2 step %c1 iter_args(%arg5 = %3) -> (tensor<3xi32>) {
      scf.yield %arg0 : tensor<3xi32>
    }
    %5 = arith.cmpi sge, %arg1, %arg3 : index
    %6 = scf.if %5 -> (tensor<3xi32>) {
      %inserted = tensor.insert %c-2_i32 into %4[%arg3] : tensor<3xi32>
      scf.yield %inserted : tensor<3xi32>
    } else {
      scf.yield %3 : tensor<3xi32>
    }
    return %6 : tensor<3xi32>
}
