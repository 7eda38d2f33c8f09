// hotdesk-opt --hotdesk-fold-rearranged-operands --cse
func.func @linear_of_pixels(%x: tensor<2x6x6x8xf32>, %w: tensor<4x6xf32>) -> tensor<12x8x4xf32> {
  %e = tensor.empty() : tensor<2x6x8x6xf32>
  %t = linalg.transpose ins(%x : tensor<2x6x6x8xf32>) outs(%e : tensor<2x6x8x6xf32>) permutation = [0, 2, 3, 1]
  %a = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x6x8x6xf32> into tensor<12x8x6xf32>
  %f = tensor.empty() : tensor<6x4xf32>
  %u = linalg.transpose ins(%w : tensor<4x6xf32>) outs(%f : tensor<6x4xf32>) permutation = [1, 0]
  %g = tensor.empty() : tensor<2x6x6x4xf32>
  %v = linalg.broadcast ins(%u : tensor<6x4xf32>) outs(%g : tensor<2x6x6x4xf32>) dimensions = [0, 1]
  %b = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x6x6x4xf32> into tensor<12x6x4xf32>
  %h = tensor.empty() : tensor<12x8x4xf32>
  %r = "hotdesk.contract"(%a, %b, %h) {accumulate = false, equation = "bmk,bkn->bmn"} : (tensor<12x8x6xf32>, tensor<12x6x4xf32>, tensor<12x8x4xf32>) -> tensor<12x8x4xf32>
  return %r : tensor<12x8x4xf32>
}
