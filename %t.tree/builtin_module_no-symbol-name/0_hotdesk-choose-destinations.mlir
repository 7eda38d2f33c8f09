// -----// IR Dump After ChooseDestinations (hotdesk-choose-destinations) //----- //
module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensor.empty() : tensor<4xf32>
    %1 = tensor.empty() : tensor<4xf32>
    %2 = linalg.exp ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    %3 = linalg.exp ins(%arg0 : tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
