// hotdesk-opt --hotdesk-reuse-arguments
func.func private @f(%a: memref<16xf32>, %r: memref<4xf64>) {
  %i = arith.constant 3 : index
  %s = memref.load %a[%i] : memref<16xf32>
  %e = arith.extf %s : f32 to f64
  linalg.fill ins(%e : f64) outs(%r : memref<4xf64>)
  return
}
func.func @main(%x: memref<16xf32>, %out: memref<4xf64>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %r = memref.alloc() : memref<4xf64>
  call @f(%a, %r) : (memref<16xf32>, memref<4xf64>) -> ()
  memref.dealloc %a : memref<16xf32>
  linalg.sqrt ins(%r : memref<4xf64>) outs(%out : memref<4xf64>)
  memref.dealloc %r : memref<4xf64>
  return
}
