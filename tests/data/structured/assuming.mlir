// Regions under an assumption: in one another, in a loop, around a branch; what they yield is overwritten and read behind.
// given: 5, 5
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %d: tensor<?xf32> {hotdesk.donated}, %k: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<?xf32>) {
  %holds = shape.const_witness true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r:3 = shape.assuming %holds -> (tensor<4xf32>, tensor<4xf32>, index) {
    %s = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %c = arith.constant 2 : index
    shape.assuming_yield %s, %a, %c : tensor<4xf32>, tensor<4xf32>, index
  }
  %x = tensor.extract %r#0[%r#2] : tensor<4xf32>
  %q = linalg.exp ins(%r#0 : tensor<4xf32>) outs(%r#0 : tensor<4xf32>) -> tensor<4xf32>
  %p = tensor.insert %x into %r#1[%r#2] : tensor<4xf32>
  %loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %a) -> (tensor<4xf32>) {
    %z = shape.assuming %holds -> (tensor<4xf32>) {
      %positive = arith.cmpf ogt, %x, %zero : f32
      %w = scf.if %positive -> (tensor<4xf32>) {
        %s = tensor.insert %two into %y[%i] : tensor<4xf32>
        scf.yield %s : tensor<4xf32>
      } else {
        scf.yield %b : tensor<4xf32>
      }
      shape.assuming_yield %w : tensor<4xf32>
    }
    %o = tensor.insert %x into %z[%c3] : tensor<4xf32>
    scf.yield %o : tensor<4xf32>
  }
  %outer = shape.assuming %holds -> (tensor<?xf32>) {
    %inner = shape.assuming %holds -> (tensor<?xf32>) {
      %t = linalg.add ins(%d, %k : tensor<?xf32>, tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
      shape.assuming_yield %t : tensor<?xf32>
    }
    shape.assuming_yield %inner : tensor<?xf32>
  }
  %u = linalg.exp ins(%outer : tensor<?xf32>) outs(%outer : tensor<?xf32>) -> tensor<?xf32>
  %v = linalg.add ins(%k, %outer : tensor<?xf32>, tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  return %q, %p, %loop, %outer, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<?xf32>
}
