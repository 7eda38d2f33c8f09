#id = affine_map<(i) -> (i)>

func.func @memref_alias_example(%in: memref<5xf32>, %other: memref<5xf32>) {
  %base = memref.alloc() : memref<10xf32>
  %view1 = memref.subview %base[0] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1]>>
  %view2 = memref.subview %base[2] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1], offset: 2>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : memref<5xf32>) outs(%view1 : memref<5xf32, strided<[1]>>) {
  ^bb0(%a: f32, %out: f32):
    %add = arith.addf %a, %a : f32
    linalg.yield %add : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%view2 : memref<5xf32, strided<[1], offset: 2>>) outs(%other : memref<5xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}
