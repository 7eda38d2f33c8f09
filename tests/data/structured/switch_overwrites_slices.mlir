// Each case overwrites a part.
// given: 1
func.func @main(%x: tensor<8xf32> {hotdesk.donated}, %s: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1.0 : f32
  %r = scf.index_switch %s -> tensor<8xf32>
  case 0 { 
    %d = tensor.insert %c1 into %x[%c0] : tensor<8xf32>
    scf.yield %d : tensor<8xf32> }
  case 1 {
    %b = tensor.extract_slice %x[4][4][1] : tensor<8xf32> to tensor<4xf32>
    %1 = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %d = tensor.insert_slice %1 into %x[4][4][1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32> }
  default { 
    %b = tensor.extract_slice %x[4][4][1] : tensor<8xf32> to tensor<4xf32>
    %1 = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %d = tensor.insert_slice %1 into %x[4][4][1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32> }
  return %r : tensor<8xf32>
}
