// hotdesk-opt --hotdesk-guard-divisions
#id = affine_map<(d0) -> (d0)>

func.func @divided(%x: tensor<3xi64>, %y: tensor<3xi64>) -> tensor<3xi64> {
  %e = tensor.empty() : tensor<3xi64>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<3xi64>, tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %q = arith.floordivsi %a, %b : i64
    linalg.yield %q : i64
  } -> tensor<3xi64>
  return %r : tensor<3xi64>
}
