// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reorder-for-peak | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reorder-for-peak="max-states=1" --print-decisions 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: decision: order of @branch_after_branch{{.*}}: lower-peak

// Each wide value is narrowed before the next one is made; views and destinations go along.
// CHECK-LABEL: func.func @branch_after_branch(
// CHECK:         [[W:%.*]] = tensor.pad
// CHECK:         [[A:%.*]] = linalg.map { math.exp } ins([[W]]
// CHECK-NEXT:    [[N:%.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:    [[P:%.*]] = tensor.extract_slice [[A]]
// CHECK-NEXT:    [[C:%.*]] = linalg.map { math.exp } ins([[P]]
// CHECK-NEXT:    [[B:%.*]] = linalg.map { math.tanh } ins([[W]]
// CHECK-NEXT:    [[Q:%.*]] = tensor.extract_slice [[B]]
// CHECK-NEXT:    [[D:%.*]] = linalg.map { math.exp } ins([[Q]]
// CHECK-NEXT:    linalg.map { arith.addf } ins([[C]], [[D]]
func.func @branch_after_branch(%x: tensor<8xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %n = tensor.empty() : tensor<4xf32>
  %w = tensor.pad %x low[0] high[992] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<8xf32> to tensor<1000xf32>
  %a = linalg.map { math.exp } ins(%w : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %b = linalg.map { math.tanh } ins(%w : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %m = linalg.map { math.sin } ins(%w : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %p = tensor.extract_slice %a[0] [4] [1] : tensor<1000xf32> to tensor<4xf32>
  %c = linalg.map { math.exp } ins(%p : tensor<4xf32>) outs(%n : tensor<4xf32>)
  %q = tensor.extract_slice %b[0] [4] [1] : tensor<1000xf32> to tensor<4xf32>
  %d = linalg.map { math.exp } ins(%q : tensor<4xf32>) outs(%n : tensor<4xf32>)
  %s = tensor.extract_slice %m[0] [4] [1] : tensor<1000xf32> to tensor<4xf32>
  %t = linalg.map { math.exp } ins(%s : tensor<4xf32>) outs(%n : tensor<4xf32>)
  %u = linalg.map { arith.addf } ins(%c, %d : tensor<4xf32>, tensor<4xf32>) outs(%n : tensor<4xf32>)
  %r = linalg.map { arith.addf } ins(%u, %t : tensor<4xf32>, tensor<4xf32>) outs(%n : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// In a loop as well; the values that it carries count.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         scf.for
// CHECK:           linalg.map { math.exp }
// CHECK-NEXT:      linalg.reduce
// CHECK:           linalg.map { math.tanh }
// CHECK-NEXT:      linalg.reduce
// CHECK:           scf.yield
func.func @in_a_loop(%x: tensor<1000xf32>, %s: tensor<f32>, %l: index, %u: index, %t: index) -> tensor<f32> {
  %r = scf.for %i = %l to %u step %t iter_args(%k = %s) -> tensor<f32> {
    %e = tensor.empty() : tensor<1000xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
    %b = linalg.map { math.tanh } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
    %c = linalg.reduce { arith.addf } ins(%a : tensor<1000xf32>) outs(%k : tensor<f32>) dimensions = [0]
    %d = linalg.reduce { arith.addf } ins(%b : tensor<1000xf32>) outs(%c : tensor<f32>) dimensions = [0]
    scf.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// Sizes that are not known: what is better in every case is done, and the sizes are computed where they are needed.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         tensor.dim
// CHECK:         [[A:%.*]] = linalg.map { math.exp }
// CHECK:         linalg.reduce { arith.addf } ins([[A]]
// CHECK:         [[B:%.*]] = linalg.map { math.tanh }
// CHECK:         linalg.reduce { arith.addf } ins([[B]]
func.func @dynamic(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %a = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  %b = linalg.map { math.tanh } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  %c = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %d = linalg.reduce { arith.addf } ins(%b : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %c, %d : tensor<f32>, tensor<f32>
}
