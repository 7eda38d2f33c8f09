// Vectors read with padding, and written within bounds.
func.func @main(%x: memref<6xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %x[%c4], %zero : memref<6xf32>, vector<4xf32>
  %b = vector.load %x[%c0] : memref<6xf32>, vector<4xf32>
  %c = arith.addf %a, %b : vector<4xf32>
  vector.transfer_write %c, %y[%c0] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  vector.store %b, %y[%c4] : memref<8xf32>, vector<4xf32>
  return
}
