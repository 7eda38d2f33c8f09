// hotdesk-opt --hotdesk-merge-allocations
func.func @main(%x: memref<8xf32>, %y: memref<4xf64>, %f: memref<8xf32>, %g: memref<4xf64>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<4xf64>
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.map { math.exp } ins(%y : memref<4xf64>) outs(%b : memref<4xf64>)
  linalg.map { math.tanh } ins(%a : memref<8xf32>) outs(%f : memref<8xf32>)
  linalg.map { math.tanh } ins(%b : memref<4xf64>) outs(%g : memref<4xf64>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<4xf64>
  return
}
