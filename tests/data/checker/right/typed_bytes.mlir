// Bytes as elements of several types, one behind the other.
func.func @main(%x: memref<64xi8>, %y: memref<2xf64>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 4 : index
  %one = arith.constant 1.0 : f64
  %f = arith.constant 2.0 : f32
  %a = memref.view %x[%c0][] : memref<64xi8> to memref<2xf64>
  %b = memref.view %x[%c16][%n] : memref<64xi8> to memref<?xf32>
  linalg.fill ins(%one : f64) outs(%a : memref<2xf64>)
  linalg.fill ins(%f : f32) outs(%b : memref<?xf32>)
  memref.copy %a, %y : memref<2xf64> to memref<2xf64>
  return
}
