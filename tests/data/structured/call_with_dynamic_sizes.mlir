// Callees whose results have sizes of an argument, of a scalar, and one that only the callee knows.
// given: 4, 3
func.func private @same(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @made(%s: f32, %n: index) -> tensor<?xf32> {
  %r = tensor.splat %s[%n] : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @longer(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 2.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%t = %d) -> (index) {
    %u = arith.addi %t, %c1 : index
    scf.yield %u : index
  }
  %r = tensor.splat %s[%m] : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @main(%a: tensor<?xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %s = arith.constant 7.0 : f32
  %p = func.call @same(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %q = func.call @made(%s, %n) : (f32, index) -> tensor<?xf32>
  %l = func.call @longer(%q, %n) : (tensor<?xf32>, index) -> tensor<?xf32>
  %v = tensor.insert %s into %l[%c0] : tensor<?xf32>
  %w = tensor.extract %p[%c0] : tensor<?xf32>
  %x = tensor.extract %v[%n] : tensor<?xf32>
  %y = tensor.extract %q[%c0] : tensor<?xf32>
  %z = tensor.extract %l[%c0] : tensor<?xf32>
  %r = tensor.from_elements %w, %x, %y, %z : tensor<4xf32>
  %t = tensor.splat %x : tensor<4xf32>
  return %r, %t : tensor<4xf32>, tensor<4xf32>
}
