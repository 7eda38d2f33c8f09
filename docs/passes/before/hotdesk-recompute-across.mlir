// hotdesk-opt --hotdesk-recompute-across="across=10 least-bytes=64"
func.func @again(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %n = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %h = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %c = linalg.map { math.tanh } ins(%s : tensor<8xf32>) outs(%v : tensor<8xf32>)
  %t = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%h : tensor<8xf32>) dimensions = [0]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %c, %r : tensor<8xf32>, tensor<8x8xf32>
}
