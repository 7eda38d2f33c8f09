// Elementwise arithmetic over operands that die.
// given: 4, 4
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32> {hotdesk.donated}) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = arith.addf %x, %y : tensor<?xf32>
  %b = math.exp %a : tensor<?xf32>
  %c = arith.cmpf olt, %b, %x : tensor<?xf32>
  %d = arith.select %c, %b, %y : tensor<?xi1>, tensor<?xf32>
  %e = arith.fptosi %d : tensor<?xf32> to tensor<?xi32>
  %f = arith.sitofp %e : tensor<?xi32> to tensor<?xf32>
  return %f, %d : tensor<?xf32>, tensor<?xf32>
}
