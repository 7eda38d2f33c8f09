// hotdesk-opt --hotdesk-move-checks-first
#id = affine_map<(d0) -> (d0)>

func.func @count(%calls: memref<f32> {hotdesk.kind = "state"}, %table: memref<10xf32>, %index: memref<3xi64>, %out: memref<3xf32>) {
  %one = arith.constant 1.0 : f32
  %c10 = arith.constant 10 : index
  %before = memref.load %calls[] : memref<f32>
  %after = arith.addf %before, %one : f32
  memref.store %after, %calls[] : memref<f32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%index : memref<3xi64>) outs(%out : memref<3xf32>) {
  ^bb0(%in: i64, %old: f32):
    %i = arith.index_cast %in : i64 to index
    %below = arith.cmpi ult, %i, %c10 : index
    cf.assert %below, "every index in range"
    %x = memref.load %table[%i] : memref<10xf32>
    linalg.yield %x : f32
  }
  return
}
