#id = affine_map<(i) -> (i)>

func.func @alias_read_write_conflict(%base: memref<10xf32>, %other: memref<5xf32> {llvm.noalias}) {
  %view1 = memref.subview %base[0] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1]>>
  %view2 = memref.subview %base[3] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%view1 : memref<5xf32, strided<[1]>>) {
  ^bb0(%out: f32):
    %c = arith.constant 42.0 : f32
    linalg.yield %c : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%view2 : memref<5xf32, strided<[1], offset: 3>>) outs(%other : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
