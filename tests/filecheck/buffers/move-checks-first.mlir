// RUN: %hotdesk-opt %s --split-input-file --hotdesk-move-checks-first --print-decisions 2>&1 | FileCheck %s
// What comes of the decisions of each function stands in front of it.

#id = affine_map<(d0) -> (d0)>

// The counter is written before the table is read where data says: the check goes in front, over the loops that it depends on.
// CHECK:       decision: check of linalg.generic: moved: checked-first
// CHECK-LABEL: func.func @indices(
// CHECK-SAME:    [[CALLS:%.*]]: memref<f32> {hotdesk.kind = "state"}, [[TABLE:%.*]]: memref<10xf32>, [[INDEX:%.*]]: memref<3xi64>,
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]} ins([[INDEX]] : memref<3xi64>)
// CHECK:           cf.assert {{.*}}, "every index in range"
// CHECK:         memref.store {{.*}}, [[CALLS]][]
// CHECK:         linalg.generic {{.*}} ins([[INDEX]] : memref<3xi64>) outs(
// CHECK-NOT:       cf.assert
// CHECK:           memref.load [[TABLE]]
func.func @indices(%calls: memref<f32> {hotdesk.kind = "state"}, %table: memref<10xf32>, %index: memref<3xi64>,
    %out: memref<3xf32>) {
  %one = arith.constant 1.0 : f32
  %c10 = arith.constant 10 : index
  memref.store %one, %calls[] : memref<f32>
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

// -----

// A number that data says is read and compared once more in front of the write.
// CHECK:       decision: check of cf.assert: moved: checked-first
// CHECK-LABEL: func.func @number(
// CHECK:         memref.load
// CHECK:         arith.cmpi
// CHECK:         cf.assert
// CHECK:         memref.store
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @number(%calls: memref<i64> {hotdesk.kind = "state"}, %n: memref<i64>) {
  %c4 = arith.constant 4 : i64
  memref.store %c4, %calls[] : memref<i64>
  %found = memref.load %n[] : memref<i64>
  %few = arith.cmpi slt, %found, %c4 : i64
  cf.assert %few, "few"
  return
}

// -----

// Two checks that are the same in all are two ops.
// CHECK-COUNT-2: decision: check of cf.assert: moved: checked-first
// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-2: cf.assert
// CHECK:         memref.store
// CHECK-NOT:     cf.assert
// CHECK:         return
#here = loc("here")
func.func @twice(%calls: memref<i64> {hotdesk.kind = "state"}, %n: memref<i64>) {
  %c4 = arith.constant 4 : i64
  memref.store %c4, %calls[] : memref<i64>
  %found = memref.load %n[] : memref<i64>
  %few = arith.cmpi slt, %found, %c4 : i64
  cf.assert %few, "few" loc(#here)
  cf.assert %few, "few" loc(#here)
  return
}

// -----

// What the program has written is what the check is of; a division may fail where a check in front of it did not hold; so may a
// read at a place that is no number.
// CHECK-COUNT-3: decision: check of cf.assert: order kept: written-before-check
// CHECK-LABEL: func.func @kept(
// CHECK:         memref.store
// CHECK-COUNT-3: cf.assert
func.func @kept(%calls: memref<i64> {hotdesk.kind = "state"}, %n: memref<9xi64>, %p: i64, %i: index) {
  %c4 = arith.constant 4 : i64
  memref.store %c4, %calls[] : memref<i64>
  %found = memref.load %calls[] : memref<i64>
  %few = arith.cmpi slt, %found, %p : i64
  cf.assert %few, "few"
  %part = arith.divsi %c4, %p : i64
  %some = arith.cmpi slt, %part, %c4 : i64
  cf.assert %some, "some"
  %there = memref.load %n[%i] : memref<9xi64>
  %other = arith.cmpi slt, %there, %c4 : i64
  cf.assert %other, "other"
  return
}

// -----

// Nothing of the caller's is written: nothing moves.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @results(
// CHECK:         memref.store
// CHECK:         cf.assert
func.func @results(%out: memref<i64> {bufferize.result = 0 : i64}, %n: i64) {
  %c4 = arith.constant 4 : i64
  memref.store %c4, %out[] : memref<i64>
  %few = arith.cmpi slt, %n, %c4 : i64
  cf.assert %few, "few"
  return
}

// -----

#row = affine_map<(d0) -> (d0)>

// A check that stays may be what keeps a view inside of its memory: a check of what the view shows stays behind it.
// CHECK-COUNT-2: decision: check of {{.*}}: order kept: written-before-check
// CHECK:       decision: check of cf.assert: moved: checked-first
// CHECK-LABEL: func.func @guarded(
// CHECK:         cf.assert {{.*}}, "last"
// CHECK:         memref.store
// CHECK:         cf.assert {{.*}}, "no more than there are"
// CHECK:         memref.subview
// CHECK:         cf.assert {{.*}}, "every index in range"
func.func @guarded(%calls: memref<index> {hotdesk.kind = "state"}, %places: memref<8xindex>, %n: index, %out: memref<?xindex>,
    %p: index) {
  %c8 = arith.constant 8 : index
  memref.store %c8, %calls[] : memref<index>
  %most = memref.load %calls[] : memref<index>
  %inside = arith.cmpi ule, %n, %most : index
  cf.assert %inside, "no more than there are"
  %few = memref.subview %places[0] [%n] [1] : memref<8xindex> to memref<?xindex, strided<[1]>>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%few : memref<?xindex, strided<[1]>>) outs(%out : memref<?xindex>) {
  ^bb0(%in: index, %old: index):
    %below = arith.cmpi ult, %in, %c8 : index
    cf.assert %below, "every index in range"
    linalg.yield %in : index
  }
  %last = arith.cmpi ult, %p, %c8 : index
  cf.assert %last, "last"
  return
}

// -----

#row = affine_map<(d0) -> (d0)>

// So may a check in a branch, which stays in any case; and 0 has no negative powers.
// CHECK-COUNT-2: decision: check of {{.*}}: order kept: written-before-check
// CHECK-LABEL: func.func @guarded_by_a_branch(
// CHECK:         memref.store
// CHECK:         scf.if
// CHECK:           cf.assert {{.*}}, "no more than there are"
// CHECK:         memref.subview
// CHECK:         cf.assert {{.*}}, "every index in range"
// CHECK:         cf.assert {{.*}}, "a power"
func.func @guarded_by_a_branch(%calls: memref<index> {hotdesk.kind = "state"}, %places: memref<8xindex>, %n: index,
    %out: memref<?xindex>, %p: i64) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  memref.store %c8, %calls[] : memref<index>
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    %most = memref.load %calls[] : memref<index>
    %inside = arith.cmpi ule, %n, %most : index
    cf.assert %inside, "no more than there are"
  }
  %few = memref.subview %places[0] [%n] [1] : memref<8xindex> to memref<?xindex, strided<[1]>>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%few : memref<?xindex, strided<[1]>>) outs(%out : memref<?xindex>) {
  ^bb0(%in: index, %old: index):
    %below = arith.cmpi ult, %in, %c8 : index
    cf.assert %below, "every index in range"
    linalg.yield %in : index
  }
  %power = math.ipowi %p, %p : i64
  %other = arith.cmpi eq, %power, %p : i64
  cf.assert %other, "a power"
  return
}

// -----

#cell = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>

// The checks of the columns of indices, which ask for the column, are written out for each; for many columns they stay.
// CHECK:       decision: check of linalg.generic: moved: checked-first
// CHECK-NOT:   decision: check
// CHECK-LABEL: func.func @columns(
// CHECK:         linalg.generic {{{.*}}} ins(%{{.*}} : memref<8xi64>) {
// CHECK:           arith.floordivsi
// CHECK:           cf.assert {{.*}}, "every index in range"
// CHECK:           arith.floordivsi
// CHECK:           cf.assert {{.*}}, "every index in range"
// CHECK-NEXT:      linalg.yield
// CHECK:         memref.store
// CHECK:         linalg.generic
// CHECK-NOT:       cf.assert
// CHECK:         linalg.generic
// CHECK:           cf.assert {{.*}}, "every index in range"
func.func @columns(%calls: memref<index> {hotdesk.kind = "state"}, %cells: memref<8xi64>, %places: memref<8x2xindex>,
    %many: memref<8x9xindex>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  memref.store %c4, %calls[] : memref<index>
  linalg.generic {indexing_maps = [#cell, #both], iterator_types = ["parallel", "parallel"]}
      ins(%cells : memref<8xi64>) outs(%places : memref<8x2xindex>) {
  ^bb0(%in: i64, %old: index):
    %column = linalg.index 1 : index
    %cell = arith.index_cast %in : i64 to index
    %row = arith.floordivsi %cell, %c4 : index
    %rest = arith.remsi %cell, %c4 : index
    %first = arith.cmpi eq, %column, %c0 : index
    %place = arith.select %first, %row, %rest : index
    %below = arith.cmpi ult, %place, %c4 : index
    cf.assert %below, "every index in range"
    linalg.yield %place : index
  }
  linalg.generic {indexing_maps = [#cell, #both], iterator_types = ["parallel", "parallel"]}
      ins(%cells : memref<8xi64>) outs(%many : memref<8x9xindex>) {
  ^bb0(%in: i64, %old: index):
    %column = linalg.index 1 : index
    %cell = arith.index_cast %in : i64 to index
    %sum = arith.addi %cell, %column : index
    %below = arith.cmpi ult, %sum, %c16 : index
    cf.assert %below, "every index in range"
    linalg.yield %sum : index
  }
  return
}

// -----

// What a product reads it does not write: its check stands in front of the first write, and stays there.
// CHECK-NOT:   decision: check
// CHECK-LABEL: func.func @read_by_a_product(
// CHECK:         "hotdesk.contract"
// CHECK:         cf.assert
// CHECK:         memref.store
func.func @read_by_a_product(%w: memref<4x4xf32> {hotdesk.kind = "state"}, %x: memref<4x4xf32>, %y: memref<4x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  "hotdesk.contract"(%x, %w, %y) {accumulate = false, equation = "mk,kn->mn"} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
  %some = arith.cmpi ne, %n, %c0 : index
  cf.assert %some, "some"
  memref.store %zero, %w[%c0, %c0] : memref<4x4xf32>
  return
}
