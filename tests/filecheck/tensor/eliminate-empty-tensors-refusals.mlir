// RUN: %hotdesk-opt %s --split-input-file --hotdesk-eliminate-empty-tensors --print-decisions 2>&1 | FileCheck %s

// Rule 1: the value is read after the insertion.
// CHECK:       decision: source of tensor.insert_slice: allocated: read-later, 16 bytes (func.return at
// CHECK-LABEL: func.func @read_later(
// CHECK-NOT:     tensor.extract_slice
func.func @read_later(%x: tensor<4xf32>, %d: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %a, %r : tensor<4xf32>, tensor<8xf32>
}

// -----

// Rule 1: a link has another reader.
// CHECK:       decision: source of tensor.insert_slice: allocated: multiple-readers, 16 bytes (tensor.extract at
// CHECK-LABEL: func.func @link_read(
// CHECK-NOT:     tensor.extract_slice
func.func @link_read(%x: tensor<4xf32>, %d: tensor<8xf32>, %i: index) -> (f32, tensor<8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %b = linalg.map { math.sqrt } ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>)
  %s = tensor.extract %a[%i] : tensor<4xf32>
  %r = tensor.insert_slice %b into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %s, %r : f32, tensor<8xf32>
}

// -----

// Rule 2: a loop inserts it again and again.
// CHECK:       decision: source of tensor.insert_slice: allocated: different-block, 16 bytes (linalg.map at
// CHECK-LABEL: func.func @in_a_loop(
// CHECK-NOT:     tensor.extract_slice
func.func @in_a_loop(%x: tensor<4xf32>, %d: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %d) -> tensor<8xf32> {
    %s = tensor.insert_slice %a into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Rule 3: the destination comes later, and the value is needed before.
// CHECK:       decision: source of tensor.insert_slice: allocated: destination-later, 16 bytes (linalg.map at
// CHECK-LABEL: func.func @destination_later(
// CHECK-NOT:     tensor.extract_slice
func.func @destination_later(%x: tensor<4xf32>, %y: tensor<8xf32>, %i: index) -> (f32, tensor<8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %s = tensor.extract %a[%i] : tensor<4xf32>
  %f = tensor.empty() : tensor<8xf32>
  %d = linalg.map { math.exp } ins(%y : tensor<8xf32>) outs(%f : tensor<8xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %s, %r : f32, tensor<8xf32>
}

// -----

// Rule 4: the destination's old contents are read later, here through a view.
// CHECK:       decision: source of tensor.insert_slice: allocated: read-later, 16 bytes (func.return at
// CHECK-LABEL: func.func @destination_read(
// CHECK:         tensor.empty
func.func @destination_read(%x: tensor<4xf32>, %d: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %v = tensor.extract_slice %d[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %v, %r : tensor<2xf32>, tensor<8xf32>
}

// -----

// Rule 4: the op reads other elements of the destination than it writes.
// CHECK:       decision: source of tensor.insert_slice: allocated: read-by-same-op, 16 bytes (linalg.map at
// CHECK-LABEL: func.func @shifted(
// CHECK:         tensor.empty
func.func @shifted(%d: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %d[1] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Rule 4: a value that is inserted into itself.
// CHECK:       decision: source of tensor.insert_slice: allocated: read-by-same-op, 16 bytes (tensor.insert_slice at
// CHECK-LABEL: func.func @into_itself(
// CHECK:         tensor.empty
func.func @into_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %a[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Rule 5: nobody else may touch a destination in memory.
// CHECK:       decision: source of bufferization.materialize_in_destination: allocated: destination-shared, 16 bytes (memref.load at
// CHECK-LABEL: func.func @shared(
// CHECK:         tensor.empty
func.func @shared(%x: tensor<4xf32>, %m: memref<4xf32>, %i: index) -> f32 {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %s = memref.load %m[%i] : memref<4xf32>
  bufferization.materialize_in_destination %a in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return %s : f32
}

// -----

// A value that begins with something else than an empty tensor is no subject.
// CHECK-LABEL: func.func @not_empty(
// CHECK-NEXT:    linalg.map
func.func @not_empty(%x: tensor<4xf32>, %y: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Rule 6: the sum may be written over an operand, so that the other one is gone when the destination is there.
// CHECK:       decision: source of tensor.insert_slice: allocated: destination-raises-peak, 256 bytes (linalg.map at
// CHECK-LABEL: func.func @raises_peak(
// CHECK-NOT:     tensor.extract_slice
func.func @raises_peak(%x: tensor<64xf32>, %d: tensor<80xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %b = linalg.map { math.sqrt } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %c = linalg.map { arith.addf } ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
  %w = tensor.empty() : tensor<80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%w : tensor<80xf32>) -> tensor<80xf32>
  %r = tensor.insert_slice %c into %f[8] [64] [1] : tensor<64xf32> into tensor<80xf32>
  %s = tensor.empty() : tensor<f32>
  %t = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %u = linalg.dot ins(%r, %d : tensor<80xf32>, tensor<80xf32>) outs(%t : tensor<f32>) -> tensor<f32>
  return %u : tensor<f32>
}

// -----

// Rule 6: the peak is somewhere else.
// CHECK:       decision: source of tensor.insert_slice: in place: written-in-destination, 256 bytes
// CHECK-LABEL: func.func @peak_elsewhere(
// CHECK:         [[S:%.*]] = tensor.extract_slice
// CHECK-NEXT:    linalg.map { arith.addf } {{.*}} outs([[S]] :
func.func @peak_elsewhere(%x: tensor<64xf32>, %d: tensor<80xf32>, %y: tensor<500xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %b = linalg.map { math.sqrt } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %c = linalg.map { arith.addf } ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
  %w = tensor.empty() : tensor<80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%w : tensor<80xf32>) -> tensor<80xf32>
  %r = tensor.insert_slice %c into %f[8] [64] [1] : tensor<64xf32> into tensor<80xf32>
  %s = tensor.empty() : tensor<f32>
  %t = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %u = linalg.dot ins(%r, %d : tensor<80xf32>, tensor<80xf32>) outs(%t : tensor<f32>) -> tensor<f32>
  %g = tensor.empty() : tensor<500xf32>
  %z = linalg.map { math.exp } ins(%y : tensor<500xf32>) outs(%g : tensor<500xf32>)
  %v = linalg.dot ins(%z, %z : tensor<500xf32>, tensor<500xf32>) outs(%u : tensor<f32>) -> tensor<f32>
  return %v : tensor<f32>
}
