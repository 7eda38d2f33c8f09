// A constant is written, through a view.
memref.global "private" constant @k : memref<4xf32> = dense<1.0>
func.func @main(%f: f32) {
  %k = memref.get_global @k : memref<4xf32>
  %s = memref.subview %k[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  linalg.fill ins(%f : f32) outs(%s : memref<2xf32, strided<[1], offset: 1>>) // expected-error {{write to read-only memory}}
  return
}
