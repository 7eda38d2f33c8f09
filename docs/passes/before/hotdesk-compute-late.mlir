// hotdesk-opt --hotdesk-compute-late
func.func @padded(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<10xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x10xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x10xf32>) -> tensor<10x10xf32>
  %p = tensor.insert_slice %x into %f[1, 1] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<10x10xf32>
  %n = tensor.empty() : tensor<8xf32>
  %m = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %k = tensor.empty() : tensor<10xf32>
  %l = linalg.fill ins(%z : f32) outs(%k : tensor<10xf32>) -> tensor<10xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<10x10xf32>) outs(%l : tensor<10xf32>) dimensions = [0]
  return %s, %t : tensor<8xf32>, tensor<10xf32>
}
