#id = affine_map<(i) -> (i)>

func.func @output_alias(%input: memref<4xf32> {llvm.noalias}, %arg0: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%input : memref<4xf32>) outs(%arg0 : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %add = arith.addf %in, %out : f32
    linalg.yield %add : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%arg0 : memref<4xf32>) outs(%arg0 : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %mul = arith.mulf %in, %in : f32
    linalg.yield %mul : f32
  }
  return
}
