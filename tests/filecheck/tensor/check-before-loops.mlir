// RUN: %hotdesk-opt %s --split-input-file --hotdesk-check-before-loops --print-decisions 2>&1 | FileCheck %s
// What comes of the decisions of each function stands in front of it.

// A place that is carried, and what it is compared with, is a loop of its own; the cache is not part of it.
// CHECK:       decision: check of cf.assert: moved: checked-first
// CHECK-LABEL: func.func @places(
// CHECK-SAME:    [[CACHE:%.*]]: tensor<8x4xf32> {hotdesk.kind = "state"}, [[N:%.*]]: index, {{.*}}, [[FIRST:%.*]]: tensor<i64>)
// CHECK:         scf.for {{.*}} iter_args({{%.*}} = [[FIRST]]) -> (tensor<i64>) {
// CHECK:           cf.assert
// CHECK:           scf.yield {{%.*}} : tensor<i64>
// CHECK:         scf.for {{.*}} iter_args({{%.*}} = [[CACHE]], {{%.*}} = [[FIRST]])
// CHECK-NOT:       cf.assert
// CHECK:           tensor.insert_slice
func.func @places(%cache: tensor<8x4xf32> {hotdesk.kind = "state"}, %n: index, %row: tensor<1x4xf32>, %first: tensor<i64>)
    -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %cache, %p = %first) -> (tensor<8x4xf32>, tensor<i64>) {
    %at = tensor.extract %p[] : tensor<i64>
    %below = arith.cmpi ult, %at, %c8 : i64
    cf.assert %below, "every index in range"
    %index = arith.index_cast %at : i64 to index
    %b = tensor.insert_slice %row into %a[%index, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    %next = arith.addi %at, %one : i64
    %q = tensor.from_elements %next : tensor<i64>
    scf.yield %b, %q : tensor<8x4xf32>, tensor<i64>
  }
  return %r#0 : tensor<8x4xf32>
}

// -----

#all = affine_map<(d0) -> (d0)>

// The check of a loop over elements, in a branch in a loop of unknown length, goes in front of what is computed before that.
// CHECK:       decision: check of linalg.generic: moved: checked-first
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    {{.*}}, [[IDS:%.*]]: tensor<3xi64>, [[TABLE:%.*]]: tensor<10xf32>, [[N:%.*]]: i64)
// CHECK:         scf.while ([[I:%.*]] = {{%.*}}) : (i64) -> i64 {
// CHECK:           scf.condition({{%.*}}) [[I]] : i64
// CHECK:           scf.if
// CHECK:             linalg.generic {{.*}} ins([[IDS]] : tensor<3xi64>) {
// CHECK:               cf.assert
// CHECK:             linalg.yield
// CHECK:           scf.yield {{%.*}} : i64
// CHECK:         linalg.exp
// CHECK:         scf.while
// CHECK:           scf.if
// CHECK-NOT:         cf.assert
// CHECK:             tensor.extract [[TABLE]]
func.func @nested(%s: tensor<3xf32> {hotdesk.kind = "state"}, %ids: tensor<3xi64>, %table: tensor<10xf32>, %n: i64) -> tensor<3xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %c10 = arith.constant 10 : i64
  %t = linalg.exp ins(%s : tensor<3xf32>) outs(%s : tensor<3xf32>) -> tensor<3xf32>
  %r:2 = scf.while (%i = %zero, %a = %t) : (i64, tensor<3xf32>) -> (i64, tensor<3xf32>) {
    %more = arith.cmpi slt, %i, %n : i64
    scf.condition(%more) %i, %a : i64, tensor<3xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<3xf32>):
    %low = arith.cmpi slt, %i, %two : i64
    %b = scf.if %low -> tensor<3xf32> {
      %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
          ins(%ids : tensor<3xi64>) outs(%a : tensor<3xf32>) {
      ^bb0(%id: i64, %old: f32):
        %below = arith.cmpi ult, %id, %c10 : i64
        cf.assert %below, "every index in range"
        %place = arith.index_cast %id : i64 to index
        %e = tensor.extract %table[%place] : tensor<10xf32>
        %sum = arith.addf %e, %old : f32
        linalg.yield %sum : f32
      } -> tensor<3xf32>
      scf.yield %x : tensor<3xf32>
    } else {
      scf.yield %a : tensor<3xf32>
    }
    %j = arith.addi %i, %one : i64
    scf.yield %j, %b : i64, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// -----

// What is checked is computed from much, or by a division that may fail; without state there is nothing to write first.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
// CHECK-LABEL: func.func @without_state(
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
func.func @kept(%s: tensor<2000xf32> {hotdesk.kind = "state"}, %n: index, %d: index) -> tensor<2000xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<2000xf32> {
    %b = linalg.exp ins(%a : tensor<2000xf32>) outs(%a : tensor<2000xf32>) -> tensor<2000xf32>
    %e = tensor.extract %b[%c0] : tensor<2000xf32>
    %less = arith.cmpf olt, %e, %one : f32
    cf.assert %less, "less"
    %q = arith.divui %n, %d : index
    %some = arith.cmpi ult, %q, %n : index
    cf.assert %some, "some"
    scf.yield %b : tensor<2000xf32>
  }
  return %r : tensor<2000xf32>
}
func.func @without_state(%s: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<f32> {
    %some = arith.cmpi ult, %i, %n : index
    cf.assert %some, "some"
    scf.yield %a : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// What says how often the loop runs is read at a place that a check in front is about: the loop of checks stays behind that one.
// CHECK:       decision: check of cf.assert: moved: checked-first, 0 bytes (cf.assert
// CHECK-LABEL: func.func @behind_a_check(
// CHECK:         cf.assert %{{.*}}, "a place"
// CHECK:         tensor.extract_slice
// CHECK:         scf.for
// CHECK:           cf.assert %{{.*}}, "eight"
// CHECK:         scf.for
// CHECK-NOT:       cf.assert
func.func @behind_a_check(%s: tensor<8xi64> {hotdesk.kind = "state"}, %t: tensor<?xi64>, %i: index) -> tensor<8xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %size = tensor.dim %t, %c0 : tensor<?xi64>
  %in = arith.cmpi ult, %i, %size : index
  cf.assert %in, "a place"
  %piece = tensor.extract_slice %t[%i] [1] [1] : tensor<?xi64> to tensor<1xi64>
  %e = tensor.extract %piece[%c0] : tensor<1xi64>
  %n = arith.index_cast %e : i64 to index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<8xi64> {
    %below = arith.cmpi ult, %j, %c8 : index
    cf.assert %below, "eight"
    %b = tensor.insert %e into %a[%j] : tensor<8xi64>
    scf.yield %b : tensor<8xi64>
  }
  return %r : tensor<8xi64>
}

// Nor does a loop of checks read, or write, where a check that stays may say that nothing is.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @places_in_the_loop(
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
func.func @places_in_the_loop(%s: tensor<8xi64> {hotdesk.kind = "state"}, %t: tensor<?xi64>, %n: index) -> tensor<8xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ten = arith.constant 10 : i64
  %ones = arith.constant dense<1> : tensor<4xi64>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<8xi64> {
    %piece = tensor.extract_slice %t[%j] [1] [1] : tensor<?xi64> to tensor<1xi64>
    %x = tensor.extract %piece[%c0] : tensor<1xi64>
    %small = arith.cmpi slt, %x, %ten : i64
    cf.assert %small, "small"
    %y = tensor.extract %t[%c0] : tensor<?xi64>
    %less = arith.cmpi slt, %y, %ten : i64
    cf.assert %less, "less"
    %more = tensor.insert %ten into %ones[%j] : tensor<4xi64>
    %z = tensor.extract %more[%c1] : tensor<4xi64>
    %few = arith.cmpi sle, %z, %ten : i64
    cf.assert %few, "few"
    %b = tensor.insert %x into %a[%j] : tensor<8xi64>
    scf.yield %b : tensor<8xi64>
  }
  return %r : tensor<8xi64>
}

// -----

// A check that stays may be what ends the loop, so that the others stay, too: in a loop of their own they might go on for ever.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @ended_by_a_check(
// CHECK-COUNT-1: scf.while
// CHECK:           "less than five"
// CHECK:           "not eight"
// CHECK-NOT:     scf.while
func.func @ended_by_a_check(%s: tensor<8xf32> {hotdesk.kind = "state"}, %step: i64) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %one = arith.constant 1.0 : f32
  %five = arith.constant 5.0 : f32
  %r:2 = scf.while (%i = %zero, %a = %s) : (i64, tensor<8xf32>) -> (i64, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %c8 : i64
    scf.condition(%more) %i, %a : i64, tensor<8xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<8xf32>):
    %e = tensor.extract %a[%c0] : tensor<8xf32>
    %less = arith.cmpf olt, %e, %five : f32
    cf.assert %less, "less than five"
    %other = arith.cmpi ne, %i, %c8 : i64
    cf.assert %other, "not eight"
    %f = arith.addf %e, %one : f32
    %b = tensor.insert %f into %a[%c0] : tensor<8xf32>
    %j = arith.addi %i, %step : i64
    scf.yield %j, %b : i64, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

// Nor does a loop without a known number of iterations go in front of a check that stays; one of three iterations does.
// CHECK-COUNT-2: decision: check of cf.assert: moved: checked-first
// CHECK-LABEL: func.func @behind_a_branch(
// CHECK:         scf.for
// CHECK:           "odd"
// CHECK:         scf.if
// CHECK:           "steps go up"
// CHECK:         scf.while
// CHECK:           "not nine"
// CHECK:         scf.for
// CHECK-NOT:       cf.assert
// CHECK:         scf.while
// CHECK-NOT:       cf.assert
func.func @behind_a_branch(%s: tensor<8xf32> {hotdesk.kind = "state"}, %step: i64, %yes: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %c9 = arith.constant 9 : i64
  scf.if %yes {
    %e = tensor.extract %s[%c0] : tensor<8xf32>
    %h = arith.fptosi %e : f32 to i64
    %k = arith.subi %h, %step : i64
    %less = arith.cmpi slt, %k, %h : i64
    cf.assert %less, "steps go up"
  }
  %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s) -> tensor<8xf32> {
    %n = arith.index_cast %i : index to i64
    %even = arith.cmpi ne, %n, %step : i64
    cf.assert %even, "odd"
    %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  %r:2 = scf.while (%i = %zero, %a = %q) : (i64, tensor<8xf32>) -> (i64, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %c8 : i64
    scf.condition(%more) %i, %a : i64, tensor<8xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<8xf32>):
    %other = arith.cmpi ne, %i, %c9 : i64
    cf.assert %other, "not nine"
    %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    %j = arith.addi %i, %step : i64
    scf.yield %j, %b : i64, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Few elements may be many iterations, and a power of 0 may have no value: neither is computed twice.
// CHECK-NOT:   decision
// CHECK-LABEL: func.func @many_iterations(
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
// CHECK-LABEL: func.func @powers(
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
func.func @many_iterations(%s: tensor<8xf32> {hotdesk.kind = "state"}, %x: tensor<1000xi64>, %y: tensor<1000xi64>, %n: index)
    -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s, %z = %x) -> (tensor<8xf32>, tensor<1000xi64>) {
    %most = linalg.generic {indexing_maps = [#column, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y : tensor<1000xi64>) outs(%z : tensor<1000xi64>) {
    ^bb0(%in: i64, %out: i64):
      %more = arith.maxsi %in, %out : i64
      linalg.yield %more : i64
    } -> tensor<1000xi64>
    %e = tensor.extract %most[%c0] : tensor<1000xi64>
    %m = arith.index_cast %e : i64 to index
    %below = arith.cmpi ult, %m, %n : index
    cf.assert %below, "below"
    %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %b, %most : tensor<8xf32>, tensor<1000xi64>
  }
  return %r#0 : tensor<8xf32>
}
func.func @powers(%s: tensor<8xf32> {hotdesk.kind = "state"}, %x: i64, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<8xf32> {
    %k = arith.index_cast %i : index to i64
    %p = math.ipowi %x, %k : i64
    %other = arith.cmpi ne, %p, %x : i64
    cf.assert %other, "other"
    %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
