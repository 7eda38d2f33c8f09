// hotdesk-opt --hotdesk-scf-bufferize
func.func @main(%x: tensor<4xf32>, %c: f32, %lb: index, %ub: index, %step: index) -> tensor<4xf32> {
  %r = scf.for %i = %lb to %ub step %step iter_args(%p = %x) -> (tensor<4xf32>) {
    %s = tensor.insert %c into %p[%i] : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
