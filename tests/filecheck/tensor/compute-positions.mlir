// RUN: %hotdesk-opt %s --split-input-file --hotdesk-compute-positions | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Rules 1 to 3: the place is computed in the loop that reads there, and the check that it keeps to is gone.
// CHECK-LABEL: func.func @clamped(
// CHECK:         linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%{{.*}} : tensor<6xf32>)
// CHECK:           linalg.index 0
// CHECK:           arith.maxsi
// CHECK-NOT:       cf.assert
// CHECK:           tensor.extract
// CHECK:           linalg.yield %{{.*}} : f32
func.func @clamped(%x: tensor<4xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %e = tensor.empty() : tensor<6xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<6xi64>) {
  ^bb0(%out: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %far = arith.subi %i, %c2 : i64
    %near = arith.maxsi %far, %c0 : i64
    linalg.yield %near : i64
  } -> tensor<6xi64>
  %f = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%places : tensor<6xi64>) outs(%f : tensor<6xf32>) {
  ^bb0(%in: i64, %out: f32):
    %c4 = arith.constant 4 : index
    %i = arith.index_cast %in : i64 to index
    %ok = arith.cmpi ult, %i, %c4 : index
    cf.assert %ok, "every index in range"
    %element = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %element : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Rule 3: place 4 of 4 is read at the end of the loop: the check stays, and the table with it.
// CHECK-LABEL: func.func @behind_the_end(
// CHECK:         [[TABLE:%.*]] = linalg.generic
// CHECK:         linalg.generic {{.*}} ins([[TABLE]] : tensor<7xi64>)
// CHECK:           cf.assert
func.func @behind_the_end(%x: tensor<4xf32>) -> tensor<7xf32> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %e = tensor.empty() : tensor<7xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<7xi64>) {
  ^bb0(%out: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %far = arith.subi %i, %c2 : i64
    %near = arith.maxsi %far, %c0 : i64
    linalg.yield %near : i64
  } -> tensor<7xi64>
  %f = tensor.empty() : tensor<7xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%places : tensor<7xi64>) outs(%f : tensor<7xf32>) {
  ^bb0(%in: i64, %out: f32):
    %c4 = arith.constant 4 : index
    %i = arith.index_cast %in : i64 to index
    %ok = arith.cmpi ult, %i, %c4 : index
    cf.assert %ok, "every index in range"
    %element = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %element : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#both = affine_map<(d0, d1) -> (d0, d1)>

// Rule 2: through dims of size 1, and of one table in two only that which is made of positions.
// CHECK-LABEL: func.func @rows_of_data(
// CHECK-SAME:    %{{.*}}: tensor<3x5xf32>, [[DATA:%.*]]: tensor<3x5xi64>
// CHECK:         linalg.generic {{.*}} ins([[DATA]] : tensor<3x5xi64>)
// CHECK:           [[N:%.*]] = linalg.index 0
// CHECK:           arith.subi %{{.*}}, [[N]]
// CHECK:           cf.assert
// CHECK-NOT:       cf.assert
// CHECK:           tensor.extract
func.func @rows_of_data(%x: tensor<3x5xf32>, %data: tensor<3x5xi64>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3xindex>
  %last = arith.constant 2 : index
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<3xindex>) {
  ^bb0(%out: index):
    %n = linalg.index 0 : index
    %i = arith.subi %last, %n : index
    linalg.yield %i : index
  } -> tensor<3xindex>
  %column = tensor.expand_shape %places [[0, 1]] output_shape [3, 1] : tensor<3xindex> into tensor<3x1xindex>
  %f = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#row, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%column, %data : tensor<3x1xindex>, tensor<3x5xi64>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%i: index, %in: i64, %out: f32):
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %ok = arith.cmpi ult, %i, %c3 : index
    cf.assert %ok, "every index in range"
    %j = arith.index_cast %in : i64 to index
    %too = arith.cmpi ult, %j, %c5 : index
    cf.assert %too, "every index in range"
    %element = tensor.extract %x[%i, %j] : tensor<3x5xf32>
    linalg.yield %element : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Rule 3: a truth as a number with a sign is 0 or -1, which nothing is known of: the check stays.
// CHECK-LABEL: func.func @place_of_a_truth(
// CHECK:           arith.index_cast %{{.*}} : i1 to index
// CHECK:         linalg.generic
// CHECK:           cf.assert
// CHECK:           tensor.extract
func.func @place_of_a_truth(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8xindex>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xindex>) {
  ^bb0(%out: index):
    %n = linalg.index 0 : index
    %more = arith.cmpi sgt, %n, %c3 : index
    %truth = arith.index_cast %more : i1 to index
    %i = arith.addi %truth, %c1 : index
    linalg.yield %i : index
  } -> tensor<8xindex>
  %f = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%places : tensor<8xindex>) outs(%f : tensor<8xf32>) {
  ^bb0(%i: index, %out: f32):
    %c8 = arith.constant 8 : index
    %ok = arith.cmpi ult, %i, %c8 : index
    cf.assert %ok, "every index in range"
    %element = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %element : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
