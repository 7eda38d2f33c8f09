// Three tensors change places in an inner loop, each of them one of two; the outer loop swaps what it ends with.
// given: 4
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32> {hotdesk.donated}, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %out:3 = scf.for %i = %c0 to %n step %c1 iter_args(%y0 = %b, %z0 = %a, %w0 = %b) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %in:3 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %z0, %z = %y0, %w = %w0) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %y2 = tensor.insert %two into %y[%j] : tensor<4xf32>
      %t = tensor.extract %y2[%c1] : tensor<4xf32>
      %c = arith.cmpf olt, %t, %two : f32
      %k = arith.select %c, %y2, %w : tensor<4xf32>
      %k2 = arith.select %c, %z, %y2 : tensor<4xf32>
      %k3 = scf.if %c -> tensor<4xf32> {
        %s = tensor.insert %t into %w[%c0] : tensor<4xf32>
        scf.yield %s : tensor<4xf32>
      } else {
        scf.yield %z : tensor<4xf32>
      }
      scf.yield %k2, %k, %k3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    %q = tensor.insert %two into %in#1[%i] : tensor<4xf32>
    scf.yield %in#1, %in#0, %q : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %out#0, %out#1, %out#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
