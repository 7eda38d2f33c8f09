// Both parts are of one buffer whose columns lie one behind the other: to begin with the first row loses elements.
func.func @main(%m: memref<6x8xf32>) {
  %c = memref.alloc() : memref<48xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<48xf32>)
  %from = memref.reinterpret_cast %c to offset: [6], sizes: [5, 7], strides: [1, 6]
      : memref<48xf32> to memref<5x7xf32, strided<[1, 6], offset: 6>>
  %to = memref.reinterpret_cast %c to offset: [1], sizes: [5, 7], strides: [1, 6]
      : memref<48xf32> to memref<5x7xf32, strided<[1, 6], offset: 1>>
  // expected-error@below {{overlap}}
  "hotdesk.move"(%from, %to)
      : (memref<5x7xf32, strided<[1, 6], offset: 6>>, memref<5x7xf32, strided<[1, 6], offset: 1>>) -> ()
  memref.dealloc %c : memref<48xf32>
  return
}
