// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-prepare | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-split-prepare --print-decisions 2>&1 | FileCheck %s --check-prefix=DECIDED
// DECIDED: decision: {{.*}}: weight-only

// What depends on a weight alone is computed once and handed in.
// CHECK-LABEL: func.func @prepare(
// CHECK-SAME:    [[W:%.*]]: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32>
// CHECK:         [[S:%.*]] = linalg.map { math.rsqrt } ins([[W]] :
// CHECK-NEXT:    return [[S]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf32> {hotdesk.kind = "input"}, {{%.*}}: tensor<4xf32> {hotdesk.kind = "weight"}, [[P:%.*]]: tensor<4xf32> {hotdesk.kind = "prepared"})
// CHECK:         linalg.map { arith.mulf } ins([[X]], [[P]] :
func.func @main(%x: tensor<4xf32> {hotdesk.kind = "input"}, %w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// A broadcast has more bytes than what it repeats: it stays, and its operand is handed in.
// CHECK-LABEL: func.func @prepare(
// CHECK-NOT:     linalg.broadcast
// CHECK:         return {{%.*}} : tensor<4xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[P:%[^ ]*]]: tensor<4xf32> {hotdesk.kind = "prepared"})
// CHECK:         [[B:%.*]] = linalg.broadcast ins([[P]] :
// CHECK:         linalg.map { arith.mulf } ins({{%.*}}, [[B]] :
func.func @main(%x: tensor<2x4xf32> {hotdesk.kind = "input"}, %w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %d = tensor.empty() : tensor<2x4xf32>
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%d : tensor<2x4xf32>) dimensions = [0]
  %r = linalg.map { arith.mulf } ins(%x, %b : tensor<2x4xf32>, tensor<2x4xf32>) outs(%d : tensor<2x4xf32>)
  return %r : tensor<2x4xf32>
}

// -----

// An argument of which nothing is said is an input: nothing to prepare.
// CHECK-NOT:   func.func @prepare
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%s, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// Constants count as weights.
// CHECK-LABEL: func.func @prepare() -> tensor<4xf32>
// CHECK:         arith.constant dense
// CHECK-LABEL: func.func @main({{%.*}}: tensor<4xf32>, {{%.*}}: tensor<4xf32> {hotdesk.kind = "prepared"})
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.map { math.rsqrt } ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = linalg.map { arith.mulf } ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// The sizes of what is prepared are known where its type does not say them.
// CHECK-LABEL: func.func @prepare(
// CHECK:         tensor.concat dim(0)
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    tensor<?xf32> {hotdesk.kind = "prepared", hotdesk.shape = ["8"]})
func.func @main(%w: tensor<4xf32> {hotdesk.kind = "weight"}, %x: tensor<8xf32>) -> tensor<8xf32> {
  %v = tensor.cast %w : tensor<4xf32> to tensor<?xf32>
  %c = tensor.concat dim(0) %v, %v : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = tensor.cast %c : tensor<?xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { arith.mulf } ins(%x, %d : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// A module without @main is left alone.
// CHECK-NOT:   func.func @prepare
// CHECK-LABEL: func.func @other(
func.func @other(%w: tensor<4xf32> {hotdesk.kind = "weight"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
func.func private @elsewhere(tensor<4xf32>)
