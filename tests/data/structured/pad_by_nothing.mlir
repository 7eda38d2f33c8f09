// Padding by nothing, by widths that are known or numbers, is the source; an insertion that leaves nothing of a fill is too.
// given: 5
func.func @main(%a: tensor<4xf32>, %d: tensor<?xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : index
  %first = tensor.pad %a low[0] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<4xf32>
  %r = linalg.add ins(%a, %first : tensor<4xf32>, tensor<4xf32>) outs(%first : tensor<4xf32>) -> tensor<4xf32>
  %second = tensor.pad %a low[%none] high[%none] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<?xf32>
  %cast = tensor.cast %second : tensor<?xf32> to tensor<4xf32>
  %third = tensor.pad %d low[0] high[0] {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  %scalar = tensor.pad %s low[] high[] {
  ^bb0:
    tensor.yield %zero : f32
  } : tensor<f32> to tensor<f32>
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %all = tensor.insert_slice %r into %zeros[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  %e = linalg.exp ins(%all : tensor<4xf32>) outs(%all : tensor<4xf32>) -> tensor<4xf32>
  return %r, %cast, %third, %scalar, %e : tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<f32>, tensor<4xf32>
}
