// An argument goes round blocks; another loop swaps it with new memory, while a branch yields either.
// given: 0, 1, 2
func.func @main(%a0: tensor<i32> {hotdesk.donated}, %k0: index, %k1: index, %k2: index) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %v1 = arith.constant 1 : index
  cf.br ^v2(%k0, %a0 : index, tensor<i32>)
^v2(%v5: index, %v6: tensor<i32>):
  %v7 = arith.cmpi slt, %v5, %v1 : index
  cf.cond_br %v7, ^v3, ^v4
^v3:
  %v8 = arith.constant -1 : i32
  %v9 = linalg.fill ins(%v8 : i32) outs(%v6 : tensor<i32>) -> tensor<i32>
  %v10 = arith.addi %v5, %k1 : index
  cf.br ^v2(%v10, %v9 : index, tensor<i32>)
^v4:
  %v11 = arith.constant -9 : i32
  %v12 = tensor.insert %v11 into %a0[] : tensor<i32>
  %v13 = tensor.empty() : tensor<i32>
  %v14 = arith.constant 7 : i32
  %v15 = linalg.fill ins(%v14 : i32) outs(%v13 : tensor<i32>) -> tensor<i32>
  %v16 = arith.constant 0 : index
  %v17 = arith.constant 1 : index
  %v25:2 = scf.for %v20 = %v16 to %k0 step %v17 iter_args(%v18 = %a0, %v19 = %v15) -> (tensor<i32>, tensor<i32>) {
    %v21 = arith.cmpi sge, %v20, %k2 : index
    %v22:1 = scf.if %v21 -> (tensor<i32>) {
      scf.yield %a0 : tensor<i32>
    } else {
      scf.yield %v13 : tensor<i32>
    }
    %v23 = arith.cmpi eq, %v20, %k0 : index
    %v24 = arith.select %v23, %v22#0, %v18 : tensor<i32>
    scf.yield %v19, %v18 : tensor<i32>, tensor<i32>
  }
  return %v12, %v25#0, %v25#1, %v15, %v12 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}
