// -----// IR Dump After OneShotBufferize (hotdesk-one-shot-bufferize) //----- //
module {
  func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32> {bufferize.result = 0 : i64, hotdesk.shape = ["4"]}) {
    linalg.exp ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
    return
  }
}
