// RUN: %hotdesk-opt %s --split-input-file --hotdesk-compute-late | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-compute-late --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY

// The padded image is read behind the sum alone; what it is made of, the argument, is there anyway. The fill waits with it.
// WHY: result of tensor.insert_slice: reordered: only-read-later, 400 bytes
// CHECK-LABEL: func.func @padded(
// CHECK:         linalg.reduce { arith.addf } ins(%{{.*}} : tensor<8x8xf32>)
// CHECK:         linalg.fill {{.*}} -> tensor<10x10xf32>
// CHECK-NEXT:    [[P:%.*]] = tensor.insert_slice
// CHECK-NEXT:    linalg.reduce { arith.addf } ins([[P]] : tensor<10x10xf32>)
func.func @padded(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<10xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x10xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x10xf32>) -> tensor<10x10xf32>
  %p = tensor.insert_slice %x into %f[1, 1] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<10x10xf32>
  %n = tensor.empty() : tensor<8xf32>
  %m = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %k = tensor.empty() : tensor<10xf32>
  %l = linalg.fill ins(%z : f32) outs(%k : tensor<10xf32>) -> tensor<10xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<10x10xf32>) outs(%l : tensor<10xf32>) dimensions = [0]
  return %s, %t : tensor<8xf32>, tensor<10xf32>
}

// -----

// Waiting would keep %a, which is as large and not read again.
// CHECK-LABEL: func.func @from_what_dies(
// CHECK:         linalg.map { math.exp }
// CHECK-NEXT:    linalg.map { math.tanh }
// CHECK:         linalg.reduce
// CHECK:         linalg.map { arith.addf }
func.func @from_what_dies(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %b = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %m = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// Two that wait in front of the same operation keep their order, and what both of them read waits in front of both.
// CHECK-LABEL: func.func @in_order(
// CHECK:         linalg.reduce
// CHECK:         [[A:%.*]] = linalg.map { math.exp }
// CHECK:         [[B:%.*]] = linalg.map { math.tanh } ins([[A]] : tensor<8xf32>)
// CHECK:         [[C:%.*]] = linalg.map { math.sin } ins([[A]] : tensor<8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[B]], [[C]] : tensor<8xf32>, tensor<8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[A]],
func.func @in_order(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %b = linalg.map { math.tanh } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %c = linalg.map { math.sin } ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %m = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%m : tensor<8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %q = linalg.map { arith.addf } ins(%a, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %s, %q, %r : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
