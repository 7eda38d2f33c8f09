// Branches by number, with buffers as arguments of blocks.
// sizes: 2
func.func @main(%n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %k = arith.index_cast %n : index to i32
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  cf.switch %k : i32, [default: ^done(%a : memref<4xf32>), 1: ^once(%a : memref<4xf32>), 2: ^once(%a : memref<4xf32>)]
^once(%p: memref<4xf32>):
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%p : memref<4xf32>) outs(%b : memref<4xf32>)
  memref.dealloc %p : memref<4xf32>
  cf.br ^done(%b : memref<4xf32>)
^done(%r: memref<4xf32>):
  scf.index_switch %n
  case 2 {
    linalg.exp ins(%r : memref<4xf32>) outs(%r : memref<4xf32>)
    scf.yield
  }
  default {
  }
  return %r : memref<4xf32>
}
