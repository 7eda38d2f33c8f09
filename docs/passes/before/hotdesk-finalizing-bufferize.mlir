// hotdesk-opt --hotdesk-finalizing-bufferize
func.func @main(%m: memref<4xf32>, %i: index) -> f32 {
  %t = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  %b = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
  %r = memref.load %b[%i] : memref<4xf32>
  return %r : f32
}
