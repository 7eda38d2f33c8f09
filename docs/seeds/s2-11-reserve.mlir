func.func private @use(memref<2xf32>)

func.func @main() {
  %0 = "custom.reserve"() : () -> memref<2xf32>
  %1 = memref.alloc() : memref<2xf32>
  call @use(%0) : (memref<2xf32>) -> ()
  call @use(%1) : (memref<2xf32>) -> ()
  return
}
