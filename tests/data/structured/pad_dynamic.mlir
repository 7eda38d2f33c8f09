// Padding whose sizes are values.
// given: 3, 4, 2
func.func @main(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %r = tensor.pad %x low[%n,0] high[0,%n] { ^bb0(%i: index, %j: index): %c = arith.constant 1.5 : f32
    tensor.yield %c : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
