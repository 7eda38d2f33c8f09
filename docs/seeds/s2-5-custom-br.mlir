func.func private @use(memref<2xf32>)

func.func @custom_br(%arg0: i1) {
  "custom.cond_br"(%arg0)[^bb1, ^bb2] : (i1) -> ()
^bb1:
  %0 = memref.alloc() : memref<2xf32>
  "custom.br"(%0)[^bb3] : (memref<2xf32>) -> ()
^bb2:
  %1 = memref.alloc() : memref<2xf32>
  "custom.br"(%1)[^bb3] : (memref<2xf32>) -> ()
^bb3(%2: memref<2xf32>):
  call @use(%2) : (memref<2xf32>) -> ()
  return
}
