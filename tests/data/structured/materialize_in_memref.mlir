// A value is computed where it is wanted: in a memref that the caller gives up.
func.func @main(%m: memref<4xi32> {hotdesk.donated}, %x: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.add ins(%x, %x : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  bufferization.materialize_in_destination %f in restrict writable %m : (tensor<4xi32>, memref<4xi32>) -> ()
  %r = bufferization.to_tensor %m : memref<4xi32> to tensor<4xi32>
  return %r : tensor<4xi32>
}
