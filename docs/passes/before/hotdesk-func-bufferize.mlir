// hotdesk-opt --hotdesk-func-bufferize
func.func private @g(tensor<4xf32>) -> tensor<4xf32>

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^next(%r : tensor<4xf32>)
^next(%s: tensor<4xf32>):
  return %s : tensor<4xf32>
}
