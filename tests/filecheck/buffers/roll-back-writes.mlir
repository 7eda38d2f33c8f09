// RUN: %hotdesk-opt %s --split-input-file --hotdesk-roll-back-writes --print-decisions 2>&1 | FileCheck %s
// What comes of the decisions of each function stands in front of it.

// A loop writes state where a check is: what it held is kept until the loop is over, from the first write on.
// CHECK:       decision: argument 0: copied: kept-for-checks, 32 bytes
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    [[KEYS:%.*]]: memref<8xf32> {hotdesk.kind = "state"}
// CHECK:         memref.load
// CHECK:         [[KEPT:%.*]] = memref.alloc() : memref<8xf32>
// CHECK:         linalg.generic {{.*}} ins([[KEYS]] : memref<8xf32>) outs([[KEPT]] : memref<8xf32>) attrs = {{ *}}{hotdesk.kept}
// CHECK:         scf.for
// CHECK:           memref.store
// CHECK:         memref.dealloc [[KEPT]]
// CHECK:         memref.store
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

// -----

// The function says that calls that fail may leave it partly written.
// CHECK-NOT:   decision: argument 0
// CHECK-LABEL: func.func @loop_not_kept(
// CHECK-NOT:     hotdesk.kept
func.func @loop_not_kept(%keys: memref<8xf32> {hotdesk.kind = "state"}, %at: memref<9xindex>)
    attributes {hotdesk.roll_back = false} {
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
  return
}

// -----

// A function that calls itself may fail behind a write; sizes that vary are those of the argument.
// CHECK:       decision: argument 0: copied: kept-for-checks, 4*
// CHECK-LABEL: func.func @calls(
// CHECK-SAME:    [[ROWS:%.*]]: memref<?xf32> {hotdesk.kind = "state"}
// CHECK:         [[SIZE:%.*]] = memref.dim [[ROWS]]
// CHECK:         [[KEPT:%.*]] = memref.alloc([[SIZE]]) : memref<?xf32>
// CHECK:         linalg.generic {{.*}}{hotdesk.kept}
// CHECK:         memref.store
// CHECK:         call @again
// CHECK:         memref.dealloc [[KEPT]]
func.func @calls(%rows: memref<?xf32> {hotdesk.kind = "state"}, %i: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %rows[%c0] : memref<?xf32>
  call @again(%i) : (index) -> ()
  return
}
func.func private @again(%i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.cmpi ugt, %i, %c0 : index
  scf.if %more {
    %less = arith.subi %i, %c1 : index
    func.call @again(%less) : (index) -> ()
  }
  return
}

// -----

// Blocks: kept in front of all of them, until the call ends.
// CHECK:       decision: argument 0: copied: kept-for-checks, 4 bytes
// CHECK-LABEL: func.func @blocks(
// CHECK:         [[KEPT:%.*]] = memref.alloc() : memref<f32>
// CHECK:         linalg.generic {{.*}}{hotdesk.kept}
// CHECK:         cf.cond_br
// CHECK-NOT:     memref.dealloc
func.func @blocks(%calls: memref<f32> {hotdesk.kind = "state"}, %x: memref<f32>, %yes: i1) {
  %one = arith.constant 1.0 : f32
  cf.cond_br %yes, ^write, ^end
^write:
  memref.store %one, %calls[] : memref<f32>
  %found = memref.load %x[] : memref<f32>
  %less = arith.cmpf olt, %found, %one : f32
  cf.assert %less, "less"
  cf.br ^end
^end:
  return
}

// -----

// Nothing fails behind the first write, or writes memory of the caller's that it could find half written.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @early(
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func.func @results(
// CHECK-NOT:     memref.alloc
func.func @early(%calls: memref<f32> {hotdesk.kind = "state"}, %yes: i1) {
  %one = arith.constant 1.0 : f32
  cf.assert %yes, "yes"
  memref.store %one, %calls[] : memref<f32>
  return
}
func.func @results(%out: memref<f32> {bufferize.result = 0 : i64}, %yes: i1) {
  %one = arith.constant 1.0 : f32
  memref.store %one, %out[] : memref<f32>
  cf.assert %yes, "yes"
  return
}
