func.func @inner_region_control_flow(%arg0: index, %arg1: index) -> memref<?x?xf32> {
  %0 = memref.alloc(%arg0, %arg0) : memref<?x?xf32>
  %1 = "custom.region_if"(%0) ({
  ^then(%arg2: memref<?x?xf32>):
    "custom.region_if_yield"(%arg2) : (memref<?x?xf32>) -> ()
  }, {
  ^else(%arg3: memref<?x?xf32>):
    "custom.region_if_yield"(%arg3) : (memref<?x?xf32>) -> ()
  }, {
  ^join(%arg4: memref<?x?xf32>):
    "custom.region_if_yield"(%arg4) : (memref<?x?xf32>) -> ()
  }) : (memref<?x?xf32>) -> memref<?x?xf32>
  return %1 : memref<?x?xf32>
}
