// A tensor whose size only the call knows is carried, and a part of it is as long as the loop is far.
// given: 5, 4
func.func @main(%a: tensor<?xf32> {hotdesk.shape = ["s0"]}, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %size = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> (tensor<?xf32>) {
    %p = tensor.extract_slice %a[0] [%i] [1] : tensor<?xf32> to tensor<?xf32>
    %t = tensor.insert_slice %p into %x[0] [%i] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
