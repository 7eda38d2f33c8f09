// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sum-in-blocks | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sum-in-blocks --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: summed-in-blocks

// 8 blocks of 256 rows are added up, then the rows of that block.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<2048x4xf32>, [[O:%[a-z0-9]+]]: tensor<4xf32>
// CHECK:         [[R:%.*]] = tensor.expand_shape [[X]] {{\[\[}}0, 1], [2]] output_shape [8, 256, 4]
// CHECK:         [[Z:%.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<256x4xf32>)
// CHECK:         [[P:%.*]] = linalg.generic {{.*}}["reduction", "parallel", "parallel"]} ins([[R]] : tensor<8x256x4xf32>) outs([[Z]] :
// CHECK:         [[S:%.*]] = linalg.generic {{.*}}["reduction", "parallel"]} ins([[P]] : tensor<256x4xf32>) outs([[O]] :
// CHECK:         return [[S]]
func.func @sum(%x: tensor<2048x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<2048x4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// What is left of 2053 rows, a prime, is added to the first of the block; the block comes behind what loops around the rows write.
// CHECK-LABEL: func.func @products_in_the_middle(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<3x2053x2xf32>, [[W:%[a-z0-9]+]]: tensor<2053xf32>
// CHECK-DAG:     [[XS:%.*]] = tensor.extract_slice [[X]][0, 0, 0] [3, 2052, 2]
// CHECK-DAG:     [[XR:%.*]] = tensor.expand_shape [[XS]] {{.*}} output_shape [3, 12, 171, 2]
// CHECK-DAG:     [[WS:%.*]] = tensor.extract_slice [[W]][0] [2052]
// CHECK-DAG:     [[WR:%.*]] = tensor.expand_shape [[WS]] {{.*}} output_shape [12, 171]
// CHECK:         [[P:%.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel", "parallel"]} ins([[XR]], [[WR]] : {{.*}} outs({{.*}} : tensor<3x171x2xf32>)
// CHECK:         [[XE:%.*]] = tensor.extract_slice [[X]][0, 2052, 0] [3, 1, 2]
// CHECK:         [[WE:%.*]] = tensor.extract_slice [[W]][2052] [1]
// CHECK:         [[F:%.*]] = tensor.extract_slice [[P]][0, 0, 0] [3, 1, 2]
// CHECK:         [[E:%.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel"]} ins([[XE]], [[WE]] : {{.*}} outs([[F]] :
// CHECK:         [[Q:%.*]] = tensor.insert_slice [[E]] into [[P]][0, 0, 0] [3, 1, 2]
// CHECK:         linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins([[Q]] :
func.func @products_in_the_middle(%x: tensor<3x2053x2xf32>, %w: tensor<2053xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>],
    iterator_types = ["parallel", "reduction", "parallel"]
  } ins(%x, %w : tensor<3x2053x2xf32>, tensor<2053xf32>) outs(%o : tensor<3x2xf32>) {
  ^bb0(%a: f32, %v: f32, %b: f32):
    %c = arith.mulf %a, %v : f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}

// -----

// Rule 1: few rows, integers, and sums along the last loop stay.
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     expand_shape
// CHECK:         return
func.func @few(%x: tensor<2047x2xf32>, %y: tensor<2x2048xf32>, %i: tensor<2048x2xi32>, %o: tensor<2xf32>, %p: tensor<2xi32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  %r = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<2047x2xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]
  } ins(%y : tensor<2x2048xf32>) outs(%r : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %t = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%i : tensor<2048x2xi32>) outs(%p : tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %b, %a : i32
    linalg.yield %c : i32
  } -> tensor<2xi32>
  return %r, %s, %t : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}

// -----

// Rule 2: what asks for the number of a loop, or does more with the sum, stays.
// CHECK-LABEL: func.func @other_payloads(
// CHECK-NOT:     expand_shape
// CHECK:         return
func.func @other_payloads(%x: tensor<2048x2xf32>, %o: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<2048x2xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = linalg.index 0 : index
    %w = arith.index_cast %n : index to i32
    %f = arith.sitofp %w : i32 to f32
    %p = arith.mulf %a, %f : f32
    %c = arith.addf %b, %p : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<2048x2xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    %d = arith.maximumf %c, %a : f32
    linalg.yield %d : f32
  } -> tensor<2xf32>
  return %r, %s : tensor<2xf32>, tensor<2xf32>
}

// -----

// Of rows whose number is open, each 1024 have a sum of their own; those behind them come first.
// CHECK-LABEL: func.func @open(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<?x4xf32>, [[O:%[a-z0-9]+]]: tensor<4xf32>
// CHECK:         [[D:%.*]] = tensor.dim [[X]]
// CHECK:         [[N:%.*]] = arith.floordivsi [[D]], {{.*}}
// CHECK:         [[W:%.*]] = arith.muli [[N]],
// CHECK:         [[L:%.*]] = arith.subi [[D]], [[W]]
// CHECK:         [[A:%.*]] = tensor.extract_slice [[X]][0, 0] {{\[}}[[W]], 4]
// CHECK:         [[R:%.*]] = tensor.expand_shape [[A]] {{\[\[}}0, 1], [2]] output_shape {{\[}}[[N]], 1024, 4]
// CHECK:         [[B:%.*]] = tensor.extract_slice [[X]]{{\[}}[[W]], 0] {{\[}}[[L]], 4]
// CHECK:         [[Z:%.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<?x4xf32>)
// CHECK:         [[P:%.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins([[R]] : {{.*}} outs([[Z]] :
// CHECK:         [[F:%.*]] = linalg.generic {{.*}}["reduction", "parallel"]} ins([[B]] : {{.*}} outs([[O]] :
// CHECK:         [[S:%.*]] = linalg.generic {{.*}}["reduction", "parallel"]} ins([[P]] : {{.*}} outs([[F]] :
// CHECK:         return [[S]]
func.func @open(%x: tensor<?x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<?x4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// Of several loops, both tall, each is cut into blocks.
// CHECK-LABEL: func.func @both(
// CHECK:         linalg.generic {{.*}} ins({{.*}} : tensor<8x256x128x16x1xf32>) outs({{.*}} : tensor<256x16x1xf32>)
func.func @both(%x: tensor<2048x2048x1xf32>, %o: tensor<1xf32>) -> tensor<1xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>],
    iterator_types = ["reduction", "reduction", "parallel"]
  } ins(%x : tensor<2048x2048x1xf32>) outs(%o : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<1xf32>
  return %s : tensor<1xf32>
}

// -----

// A batch norm's sum: of each image, then of images.
// CHECK-LABEL: func.func @images(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<32x8x128x128xf32>, [[O:%[a-z0-9]+]]: tensor<8xf32>
// CHECK:         [[P:%.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction", "reduction"]} ins([[X]] : {{.*}} outs({{.*}} : tensor<32x8xf32>)
// CHECK:         linalg.generic {{.*}}["reduction", "parallel"]} ins([[P]] : tensor<32x8xf32>) outs([[O]] :
func.func @images(%x: tensor<32x8x128x128xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>],
    iterator_types = ["reduction", "parallel", "reduction", "reduction"]
  } ins(%x : tensor<32x8x128x128xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
