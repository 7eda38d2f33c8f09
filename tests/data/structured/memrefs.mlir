// Tensors of memrefs and memrefs of tensors.
func.func @main(%m: memref<4xi32>, %x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %t = bufferization.to_tensor %m restrict : memref<4xi32> to tensor<4xi32>
  %a = arith.addi %t, %x : tensor<4xi32>
  %u = bufferization.to_tensor %m : memref<4xi32> to tensor<4xi32>
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : i32
  %b = tensor.insert %c5 into %u[%c0] : tensor<4xi32>
  %n = bufferization.to_buffer %b : tensor<4xi32> to memref<4xi32>
  memref.store %c5, %n[%c0] : memref<4xi32>
  %n2 = bufferization.to_buffer %a read_only : tensor<4xi32> to memref<4xi32>
  %w = memref.load %n2[%c0] : memref<4xi32>
  %a2 = tensor.insert %w into %b[%c0] : tensor<4xi32>
  return %a, %a2 : tensor<4xi32>, tensor<4xi32>
}
