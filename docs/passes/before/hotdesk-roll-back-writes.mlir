// hotdesk-opt --hotdesk-roll-back-writes
func.func @loop(%keys: memref<8xf32> {hotdesk.kind = "state"}, %calls: memref<i64> {hotdesk.kind = "state"}, %at: memref<9xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %n = memref.load %at[%c0] : memref<9xindex>
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %at[%i] : memref<9xindex>
    %below = arith.cmpi ult, %place, %c8 : index
    cf.assert %below, "every index in range"
    memref.store %one, %keys[%place] : memref<8xf32>
  }
  %last = arith.index_cast %n : index to i64
  memref.store %last, %calls[] : memref<i64>
  return
}
