// The argument is written first; what a block is passed instead of it is written later.
func.func @main(%x: memref<4xf32> {hotdesk.donated, hotdesk.holds = array<i64: 0>}) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %yes = arith.constant true
  linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
  %z = memref.cast %x : memref<4xf32> to memref<?xf32>
  cf.cond_br %yes, ^one, ^two(%z : memref<?xf32>)
^one:
  %y = memref.alloca() : memref<4xf32>
  linalg.fill ins(%two : f32) outs(%y : memref<4xf32>)
  %w = memref.cast %y : memref<4xf32> to memref<?xf32>
  cf.br ^two(%w : memref<?xf32>)
^two(%r: memref<?xf32>):
  return // expected-error {{misplaced result}}
}
