// A branch chooses what is computed over a donated argument unread and returned too, through another op that writes in place.
// given: 1
func.func @main(%a: tensor<f64> {hotdesk.donated}, %b: tensor<f64>, %c: i1) -> (tensor<f64>, tensor<f64>) {
  %const = arith.constant dense<3.0> : tensor<f64>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%b : tensor<f64>) outs(%a : tensor<f64>) {
  ^bb0(%i: f64, %o: f64):
    %t = arith.addf %i, %i : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %1 = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%0 : tensor<f64>) {
  ^bb0(%o: f64):
    %t = arith.mulf %o, %o : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %r = scf.if %c -> (tensor<f64>) {
    scf.yield %const : tensor<f64>
  } else {
    scf.yield %1 : tensor<f64>
  }
  return %r, %1 : tensor<f64>, tensor<f64>
}
