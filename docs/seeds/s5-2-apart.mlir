#id = affine_map<(i) -> (i)>

func.func @apart(%x: memref<3xf32> {llvm.noalias}, %base: memref<6xf32>) {
  %view1 = memref.subview %base[0] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1]>>
  %view2 = memref.subview %base[3] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<3xf32>) outs(%view1 : memref<3xf32, strided<[1]>>) {
  ^bb0(%in: f32, %out: f32):
    %add = arith.addf %in, %in : f32
    linalg.yield %add : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%view1 : memref<3xf32, strided<[1]>>) outs(%view2 : memref<3xf32, strided<[1], offset: 3>>) {
  ^bb0(%in: f32, %out: f32):
    %mul = arith.mulf %in, %in : f32
    linalg.yield %mul : f32
  }
  return
}
