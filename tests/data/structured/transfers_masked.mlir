// Transfers in a mask.
func.func @main(%x: tensor<8xi32>, %y: tensor<8xi32> {hotdesk.donated}) -> tensor<8xi32> {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 7 : i32
  %k = vector.create_mask %c3 : vector<4xi1>
  %v = vector.mask %k { vector.transfer_read %x[%c2], %z : tensor<8xi32>, vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  %k2 = vector.create_mask %c2 : vector<4xi1>
  %r = vector.mask %k2 { vector.transfer_write %v, %y[%c3] : vector<4xi32>, tensor<8xi32> } : vector<4xi1> -> tensor<8xi32>
  return %r : tensor<8xi32>
}
