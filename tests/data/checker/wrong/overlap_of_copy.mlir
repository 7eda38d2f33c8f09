// Source and target of a copy share elements.
func.func @main(%x: memref<8xf32>) {
  %a = memref.subview %x[0] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1]>>
  %b = memref.subview %x[1] [5] [1] : memref<8xf32> to memref<5xf32, strided<[1], offset: 1>>
  memref.copy %a, %b : memref<5xf32, strided<[1]>> to memref<5xf32, strided<[1], offset: 1>> // expected-error {{overlap}}
  return
}
