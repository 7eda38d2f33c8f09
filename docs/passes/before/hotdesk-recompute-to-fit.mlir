// hotdesk-opt --hotdesk-recompute-to-fit="bytes=1100"
func.func @back(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %y: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %i = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %u = linalg.map { math.exp } ins(%y : tensor<8x32xf32>) outs(%i : tensor<8x32xf32>)
  %t = linalg.reduce { arith.maximumf } ins(%u : tensor<8x32xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %h = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.mulf } ins(%a, %h : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %s, %r : tensor<8xf32>, tensor<8x8xf32>
}
