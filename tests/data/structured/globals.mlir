// A global that changes, and one that does not.
ml_program.global private @g(dense<[1,2,3,4]> : tensor<4xi32>) : tensor<4xi32>
ml_program.global private mutable @s(dense<[1,2,3,4]> : tensor<4xi32>) : tensor<4xi32>
func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %g = ml_program.global_load @g : tensor<4xi32>
  %a = arith.addi %g, %x : tensor<4xi32>
  %s = ml_program.global_load @s : tensor<4xi32>
  ml_program.global_store @s = %a : tensor<4xi32>
  %s2 = ml_program.global_load_const @g : tensor<4xi32>
  %s3 = ml_program.global_load @s : tensor<4xi32>
  %b = arith.addi %s, %s2 : tensor<4xi32>
  return %a, %b, %s3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
