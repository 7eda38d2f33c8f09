// hotdesk-opt --hotdesk-compute-positions
#id = affine_map<(d0) -> (d0)>

// x[max(i - 2, 0)] for i from 0 to 5.
func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %e = tensor.empty() : tensor<6xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<6xi64>) {
  ^bb0(%out: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %far = arith.subi %i, %c2 : i64
    %near = arith.maxsi %far, %c0 : i64
    linalg.yield %near : i64
  } -> tensor<6xi64>
  %f = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%places : tensor<6xi64>) outs(%f : tensor<6xf32>) {
  ^bb0(%in: i64, %out: f32):
    %c4 = arith.constant 4 : index
    %i = arith.index_cast %in : i64 to index
    %ok = arith.cmpi ult, %i, %c4 : index
    cf.assert %ok, "every index in range"
    %element = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %element : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
