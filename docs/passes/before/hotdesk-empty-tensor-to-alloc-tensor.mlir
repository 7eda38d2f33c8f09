// hotdesk-opt --hotdesk-empty-tensor-to-alloc-tensor
func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %r : tensor<?xf32>
}
