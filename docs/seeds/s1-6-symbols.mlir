func.func private @use(memref<?x100xf32>)

func.func @main(%z: f32, %x: memref<?x100xf32> {hotdesk.shape = ["s0", "100"]}, %y: memref<?x100xf32> {hotdesk.shape = ["s1", "100"]}) {
  %i = arith.constant 0 : index
  %s0 = memref.dim %x, %i : memref<?x100xf32>
  %s1 = memref.dim %y, %i : memref<?x100xf32>
  %a = memref.alloc(%s0) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?x100xf32>)
  call @use(%a) : (memref<?x100xf32>) -> ()
  memref.dealloc %a : memref<?x100xf32>
  %b = memref.alloc(%s0) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<?x100xf32>)
  call @use(%b) : (memref<?x100xf32>) -> ()
  memref.dealloc %b : memref<?x100xf32>
  %c = memref.alloc(%s1) : memref<?x100xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<?x100xf32>)
  call @use(%c) : (memref<?x100xf32>) -> ()
  memref.dealloc %c : memref<?x100xf32>
  return
}
