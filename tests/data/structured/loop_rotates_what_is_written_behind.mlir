// What changes places in a loop is written behind it: whichever argument has that memory then must not be read or written there.
// given: 0,1,2
func.func @main(%a1: tensor<4xi32> {hotdesk.donated}, %k0: index, %k1: index, %k2: index) -> (tensor<4xi32>) {
  %r:3 = scf.for %i = %k0 to %k2 step %k1 iter_args(%x = %a1, %y = %a1, %z = %a1) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    scf.yield %y, %z, %x : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  %v67 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r#2, %r#1 : tensor<4xi32>, tensor<4xi32>) outs(%a1 : tensor<4xi32>) {
  ^bb0(%v63: i32, %v64: i32, %v65: i32):
    %v66 = arith.minsi %v63, %v64 : i32
    linalg.yield %v66 : i32
  } -> tensor<4xi32>
  %v87 = tensor.extract_slice %r#1[2][2][1] : tensor<4xi32> to tensor<2xi32>
  %v88 = tensor.insert_slice %v87 into %r#1[%k0][2][1] : tensor<2xi32> into tensor<4xi32>
  return %v67 : tensor<4xi32>
}
