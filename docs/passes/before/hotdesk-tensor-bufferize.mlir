// hotdesk-opt --hotdesk-tensor-bufferize
func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}
