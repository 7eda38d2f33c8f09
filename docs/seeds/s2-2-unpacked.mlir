func.func @func_on_tensors(%arg0: tuple<i1, f32>) -> tuple<tensor<10xf32>, tensor<5xf32>> {
  %c, %z = builtin.unrealized_conversion_cast %arg0 : tuple<i1, f32> to i1, f32
  %d = tensor.empty() : tensor<10xf32>
  %s = linalg.fill ins(%z : f32) outs(%d : tensor<10xf32>) -> tensor<10xf32>
  %e = tensor.empty() : tensor<5xf32>
  %t = linalg.fill ins(%z : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r = builtin.unrealized_conversion_cast %s, %t : tensor<10xf32>, tensor<5xf32> to tuple<tensor<10xf32>, tensor<5xf32>>
  return %r : tuple<tensor<10xf32>, tensor<5xf32>>
}

func.func @on_tensors(%arg1: tuple<i1, f32>) -> tuple<memref<10xf32>, tensor<5xf32>> {
  %c, %z = builtin.unrealized_conversion_cast %arg1 : tuple<i1, f32> to i1, f32
  %m = memref.alloc() : memref<10xf32>
  linalg.fill ins(%z : f32) outs(%m : memref<10xf32>)
  %e = tensor.empty() : tensor<5xf32>
  %t = linalg.fill ins(%z : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r = builtin.unrealized_conversion_cast %m, %t : memref<10xf32>, tensor<5xf32> to tuple<memref<10xf32>, tensor<5xf32>>
  return %r : tuple<memref<10xf32>, tensor<5xf32>>
}
