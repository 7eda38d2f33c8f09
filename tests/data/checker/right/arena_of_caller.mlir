// An arena that is an argument, carved in each iteration anew.
func.func @main(%x: memref<4xf32>, %arena: memref<64xi8> {hotdesk.arena}, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %sum = memref.view %arena[%c0][] : memref<64xi8> to memref<f32>
  memref.store %zero, %sum[] : memref<f32>
  scf.for %i = %c0 to %c4 step %c1 {
    %t = memref.view %arena[%c4][] : memref<64xi8> to memref<f32>
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %t[] : memref<f32>
    %s = memref.load %sum[] : memref<f32>
    %u = memref.load %t[] : memref<f32>
    %n = arith.addf %s, %u : f32
    memref.store %n, %sum[] : memref<f32>
  }
  %r = memref.load %sum[] : memref<f32>
  memref.store %r, %y[] : memref<f32>
  return
}
