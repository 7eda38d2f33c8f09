// A vector that is said to be in bounds is not.
// sizes: 6
func.func @main(%n: index, %x: memref<8xf32>, %y: memref<8xf32>) {
  %f = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%n], %f {in_bounds = [true]} : memref<8xf32>, vector<4xf32> // expected-error {{out of bounds}}
  vector.transfer_write %v, %y[%n] : vector<4xf32>, memref<8xf32>
  return
}
