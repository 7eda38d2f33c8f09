// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-results-early | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-copy-results-early --hotdesk-choose-destinations=results-in-donated \
// RUN:   --hotdesk-one-shot-bufferize=results-in-donated --print-decisions 2>&1 | FileCheck %s --check-prefix=MEM

// What state held is a result: it is copied first, and the new contents overwrite it.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME:    [[S:%.*]]: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}
// CHECK-NEXT:    [[O:%.*]] = bufferization.alloc_tensor() copy([[S]])
// CHECK:         return [[O]], %{{.*}} :
// MEM:         decision: result 0: copied: returned-input, 32 bytes
// MEM-NOT:     copied
// MEM-LABEL:   func.func @returned(
// MEM-NOT:       memref.alloc
// MEM:           return
func.func @returned(%s: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.map { arith.addf } ins(%s, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %s, %n : tensor<8xf32>, tensor<8xf32>
}

// -----

// Of a slice, the slice alone, behind the op that takes it.
// CHECK-LABEL: func.func @slice(
// CHECK:         [[V:%.*]] = tensor.extract_slice
// CHECK-NEXT:    bufferization.alloc_tensor() copy([[V]])
// MEM-NOT:     decision: {{.*}}: copied: {{.*}}, 32 bytes
// MEM-LABEL:   func.func @slice(
func.func @slice(%s: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
  %v = tensor.extract_slice %s[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %n = tensor.insert_slice %x into %s[2] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %v, %n : tensor<2xf32>, tensor<8xf32>
}

// -----

// State that gets what other state held is copied into, behind what reads it; what is newest is computed where it belongs.
// CHECK-LABEL: func.func @history(
// CHECK-SAME:    [[A:%.*]]: tensor<8xf32> {hotdesk.donated, hotdesk.state = 0 : i64}, [[B:%.*]]: tensor<8xf32> {{.*}}, [[C:%.*]]: tensor<8xf32> {{.*}}, %{{.*}}: tensor<8xf32>)
// CHECK-NEXT:    [[OLDEST:%.*]] = bufferization.materialize_in_destination [[B]] in [[C]]
// CHECK-NEXT:    [[OLDER:%.*]] = bufferization.materialize_in_destination [[A]] in [[B]]
// CHECK:         return %{{.*}}, [[OLDER]], [[OLDEST]] :
// MEM-COUNT-2: decision: operand 0 of bufferization.materialize_in_destination: copied: lies-elsewhere, 32 bytes
// MEM-NOT:     copied
// MEM-LABEL:   func.func @history(
// MEM-NOT:       memref.alloc
// MEM:           return
func.func @history(%a: tensor<8xf32> {hotdesk.donated, hotdesk.state = 0 : i64}, %b: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}, %c: tensor<8xf32> {hotdesk.donated, hotdesk.state = 2 : i64}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %n, %a, %b : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Two that change places both read the other one at the end, and stay.
// CHECK-LABEL: func.func @exchanged(
// CHECK-NEXT:    return
func.func @exchanged(%a: tensor<8xf32> {hotdesk.donated, hotdesk.state = 0 : i64}, %b: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// What does not change is copied at the end.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    return
func.func @kept(%a: tensor<8xf32> {hotdesk.donated, hotdesk.state = 1 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}
