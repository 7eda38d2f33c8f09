// An op writes two results over tensors that end there; one of them nobody uses, and it must not lie where the other one does.
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%i: i32, %o: i32):
    %d = arith.addi %i, %i : i32
    linalg.yield %d : i32
  } -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%x, %x : tensor<4xi32>, tensor<4xi32>) {
  ^bb0(%i: i32, %o: i32, %p: i32):
    %c = arith.constant 7 : i32
    %s = arith.muli %i, %i : i32
    linalg.yield %s, %c : i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>)
  %f = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r#0 : tensor<4xi32>) outs(%f : tensor<4xi32>) {
  ^bb0(%i: i32, %o: i32):
    %d = arith.addi %i, %i : i32
    linalg.yield %d : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}
