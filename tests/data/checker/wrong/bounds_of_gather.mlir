// An index that is read from memory leaves the table.
memref.global "private" constant @rows : memref<3xindex> = dense<[0, 4, 1]>
#id = affine_map<(d0) -> (d0)>
func.func @main(%table: memref<4xf32>, %y: memref<3xf32>) {
  %k = memref.get_global @rows : memref<3xindex>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%k : memref<3xindex>) outs(%y : memref<3xf32>) {
  ^bb0(%i: index, %o: f32):
    %v = memref.load %table[%i] : memref<4xf32> // expected-error {{out of bounds}}
    linalg.yield %v : f32
  }
  return
}
