// hotdesk-opt --hotdesk-check-before-loops
func.func @places(%cache: tensor<8x4xf32> {hotdesk.kind = "state"}, %n: index, %row: tensor<1x4xf32>, %first: tensor<i64>)
    -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %cache, %p = %first) -> (tensor<8x4xf32>, tensor<i64>) {
    %at = tensor.extract %p[] : tensor<i64>
    %below = arith.cmpi ult, %at, %c8 : i64
    cf.assert %below, "every index in range"
    %index = arith.index_cast %at : i64 to index
    %b = tensor.insert_slice %row into %a[%index, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    %next = arith.addi %at, %one : i64
    %q = tensor.from_elements %next : tensor<i64>
    scf.yield %b, %q : tensor<8x4xf32>, tensor<i64>
  }
  return %r#0 : tensor<8x4xf32>
}
