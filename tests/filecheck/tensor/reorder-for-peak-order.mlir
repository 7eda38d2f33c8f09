// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --hotdesk-reorder-for-peak | FileCheck %s

// What stood below a check stays below it; what stood above may go down.
// CHECK-LABEL: func.func @below_a_check(
// CHECK:         cf.assert
// CHECK:         [[B:%.*]] = linalg.map { math.tanh }
// CHECK:         linalg.reduce { arith.addf } ins([[B]]
// CHECK:         [[A:%.*]] = linalg.map { math.exp }
// CHECK:         linalg.reduce { arith.addf } ins([[A]]
func.func @below_a_check(%x: tensor<1000xf32>, %s: tensor<f32>, %ok: i1) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<1000xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  cf.assert %ok, "not ok"
  %b = linalg.map { math.tanh } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %d = linalg.reduce { arith.addf } ins(%b : tensor<1000xf32>) outs(%s : tensor<f32>) dimensions = [0]
  %c = linalg.reduce { arith.addf } ins(%a : tensor<1000xf32>) outs(%s : tensor<f32>) dimensions = [0]
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// Nothing crosses an op that works on memory.
// CHECK-LABEL: func.func @memory_between(
// CHECK:         math.exp
// CHECK-NEXT:    math.tanh
// CHECK:         memref.store
// CHECK:         linalg.reduce
// CHECK:         linalg.reduce
func.func @memory_between(%x: tensor<1000xf32>, %s: tensor<f32>, %m: memref<f32>, %v: f32) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<1000xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %b = linalg.map { math.tanh } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  memref.store %v, %m[] : memref<f32>
  %c = linalg.reduce { arith.addf } ins(%a : tensor<1000xf32>) outs(%s : tensor<f32>) dimensions = [0]
  %d = linalg.reduce { arith.addf } ins(%b : tensor<1000xf32>) outs(%s : tensor<f32>) dimensions = [0]
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// Nor one of which nothing is known.
// CHECK-LABEL: func.func @unknown_between(
// CHECK:         math.exp
// CHECK-NEXT:    math.tanh
// CHECK:         "toy.op"
// CHECK:         linalg.reduce
// CHECK:         linalg.reduce
func.func @unknown_between(%x: tensor<1000xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<1000xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %b = linalg.map { math.tanh } ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>)
  %t = "toy.op"(%s) : (tensor<f32>) -> tensor<f32>
  %c = linalg.reduce { arith.addf } ins(%a : tensor<1000xf32>) outs(%t : tensor<f32>) dimensions = [0]
  %d = linalg.reduce { arith.addf } ins(%b : tensor<1000xf32>) outs(%t : tensor<f32>) dimensions = [0]
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// Calls keep their order.
// CHECK-LABEL: func.func @calls(
// CHECK:         call @wide
// CHECK:         call @wide
// CHECK:         call @narrow
// CHECK:         call @narrow
func.func private @wide(tensor<f32>) -> tensor<1000xf32>
func.func private @narrow(tensor<1000xf32>) -> tensor<f32>
func.func @calls(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a = call @wide(%x) : (tensor<f32>) -> tensor<1000xf32>
  %b = call @wide(%x) : (tensor<f32>) -> tensor<1000xf32>
  %c = call @narrow(%a) : (tensor<1000xf32>) -> tensor<f32>
  %d = call @narrow(%b) : (tensor<1000xf32>) -> tensor<f32>
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// An order that gains nothing stays, and so do declarations, functions without ops, and blocks on memory alone.
// CHECK-LABEL: func.func @nothing_to_gain(
// CHECK-NEXT:    tensor.empty() : tensor<4xf32>
// CHECK-NEXT:    tensor.empty() : tensor<4xf32>
// CHECK-NEXT:    math.exp
// CHECK-NEXT:    math.tanh
// CHECK:         func.func private @declared
// CHECK:         func.func @empty
// CHECK:         func.func @on_memory
func.func @nothing_to_gain(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %b = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
func.func private @declared(tensor<4xf32>)
func.func @empty() {
  return
}
func.func @on_memory(%x: memref<4xf32>) {
  %m = memref.alloc() : memref<4xf32>
  memref.copy %x, %m : memref<4xf32> to memref<4xf32>
  memref.dealloc %m : memref<4xf32>
  return
}
