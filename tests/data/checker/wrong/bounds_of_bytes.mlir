// A view of more bytes than there are.
// sizes: 60
func.func @main(%n: index, %x: memref<64xi8>) {
  %v = memref.view %x[%n][] : memref<64xi8> to memref<2xf32> // expected-error {{out of bounds}}
  return
}
