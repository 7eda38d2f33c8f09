// RUN: %hotdesk-opt %s --split-input-file --hotdesk-choose-destinations=results-in-donated | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-choose-destinations=results-in-donated \
// RUN:   --hotdesk-one-shot-bufferize=results-in-donated --print-decisions 2>&1 | FileCheck %s --check-prefix=MEM

// New contents of state are computed in its memory, although no operand dies there; what is read meanwhile stays out of it.
// CHECK-LABEL: func.func @state(
// CHECK-SAME:    [[S:%.*]]: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK:         [[Y:%.*]] = linalg.map { arith.addf } {{.*}} outs([[E]] :
// CHECK:         linalg.map { math.tanh } ins([[Y]] : tensor<8xf32>) outs([[S]] :
// MEM-NOT:     copied
// MEM-LABEL:   func.func @state(
// MEM-NOT:       memref.alloc
// MEM:           return
func.func @state(%s: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.map { arith.addf } ins(%s, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %n = linalg.map { math.tanh } ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %y, %n : tensor<8xf32>, tensor<8xf32>
}

// -----

// State that is read behind the op keeps its contents until then.
// CHECK-LABEL: func.func @state_read_later(
// CHECK:         linalg.map { math.tanh } {{.*}} outs(%{{[0-9]+}} :
func.func @state_read_later(%s: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %y = linalg.map { arith.addf } ins(%s, %n : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %y, %n : tensor<8xf32>, tensor<8xf32>
}
