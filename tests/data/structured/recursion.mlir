// A function that writes its argument and calls itself with it.
// given: 3
func.func private @count(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %c = arith.cmpi eq, %i, %c0 : index
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    %j = arith.subi %i, %c1 : index
    %w = tensor.insert %s into %x[%j] : tensor<4xf32>
    %q = func.call @count(%w, %j) : (tensor<4xf32>, index) -> tensor<4xf32>
    %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%q, %w : tensor<4xf32>, tensor<4xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%one: f32, %other: f32, %old: f32):
      %sum = arith.addf %one, %other : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %r = func.call @count(%a, %n) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
