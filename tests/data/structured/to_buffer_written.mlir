// A memref of a tensor is written: over the tensor if nobody wants it, else elsewhere.
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32> {hotdesk.donated}) -> (tensor<4xi32>, tensor<i32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : i32
  %a = arith.addi %x, %x : tensor<4xi32>
  %m = bufferization.to_buffer %a : tensor<4xi32> to memref<4xi32>
  memref.store %c9, %m[%c0] : memref<4xi32>
  %r = memref.load %m[%c0] : memref<4xi32>
  %k = bufferization.to_buffer %y : tensor<4xi32> to memref<4xi32>
  %p = memref.subview %k[1][2][1] : memref<4xi32> to memref<2xi32, strided<[1], offset: 1>>
  memref.store %c9, %p[%c0] : memref<2xi32, strided<[1], offset: 1>>
  %s = memref.load %p[%c0] : memref<2xi32, strided<[1], offset: 1>>
  %t = tensor.from_elements %r : tensor<i32>
  %u = tensor.from_elements %s : tensor<i32>
  return %a, %t, %u : tensor<4xi32>, tensor<i32>, tensor<i32>
}
