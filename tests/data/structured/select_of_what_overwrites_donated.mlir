// What is computed over a donated argument unread is returned, and so is one of it and a constant: no copy out of the argument.
// given: 1
func.func @main(%a: tensor<f64> {hotdesk.donated}, %b: tensor<f64>, %c: i1) -> (tensor<f64>, tensor<f64>) {
  %const = arith.constant dense<3.0> : tensor<f64>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%b : tensor<f64>) outs(%a : tensor<f64>) {
  ^bb0(%i: f64, %o: f64):
    %t = arith.addf %i, %i : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %r = arith.select %c, %const, %0 : tensor<f64>
  return %r, %0 : tensor<f64>, tensor<f64>
}
