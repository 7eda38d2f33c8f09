// RUN: %hotdesk-opt %s --split-input-file --hotdesk-eliminate-empty-tensors --print-decisions 2>&1 | FileCheck %s

// What is inserted is computed where it ends.
// CHECK-LABEL: func.func @inserted(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf32>, [[D:%.*]]: tensor<8xf32>)
// CHECK-NEXT:    [[E:%.*]] = tensor.extract_slice [[D]][2] [4] [1] : tensor<8xf32> to tensor<4xf32>
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.exp } ins([[X]] : tensor<4xf32>) outs([[E]] :
// CHECK-NEXT:    tensor.insert_slice [[A]] into [[D]][2] [4] [1]
func.func @inserted(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Through several ops, with dynamic sizes, a dropped dimension and a cast.
// CHECK:       decision: source of tensor.insert_slice: in place: written-in-destination, 16 bytes
// CHECK-LABEL: func.func @chain(
// CHECK:         [[P:%.*]] = tensor.extract_slice [[D:%.*]][[[I:%.*]], 0] [1, [[N:%.*]]] [1, 1] : tensor<8x?xf32> to tensor<?xf32>
// CHECK-NEXT:    [[C:%.*]] = tensor.cast [[P]] : tensor<?xf32> to tensor<4xf32>
// CHECK-NEXT:    [[F:%.*]] = linalg.fill {{.*}} outs([[C]] :
// CHECK-NEXT:    [[V:%.*]] = tensor.cast [[F]]
// CHECK-NEXT:    [[A:%.*]] = linalg.matvec {{.*}} outs([[V]] :
// CHECK-NEXT:    tensor.insert_slice [[A]] into [[D]][[[I]], 0] [1, [[N]]] [1, 1]
func.func @chain(%w: tensor<?x4xf32>, %x: tensor<4xf32>, %d: tensor<8x?xf32>, %i: index, %n: index, %s: f32) -> tensor<8x?xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = tensor.cast %f : tensor<4xf32> to tensor<?xf32>
  %a = linalg.matvec ins(%w, %x : tensor<?x4xf32>, tensor<4xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.insert_slice %a into %d[%i, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}

// -----

// Rule 3: both halves of a concatenation; the second one moves down to where its destination is known.
// CHECK-LABEL: func.func @halves(
// CHECK:         [[W:%.*]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT:    [[P:%.*]] = tensor.extract_slice [[W]][0] [4] [1]
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.exp } {{.*}} outs([[P]] :
// CHECK-NEXT:    [[R:%.*]] = tensor.insert_slice [[A]] into [[W]][0] [4] [1]
// CHECK-NEXT:    [[Q:%.*]] = tensor.extract_slice [[R]][4] [4] [1]
// CHECK-NEXT:    [[B:%.*]] = linalg.map { math.sqrt } {{.*}} outs([[Q]] :
// CHECK-NEXT:    tensor.insert_slice [[B]] into [[R]][4] [4] [1]
func.func @halves(%x: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %b = linalg.map { math.sqrt } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %w = tensor.empty() : tensor<8xf32>
  %r = tensor.insert_slice %a into %w[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %s = tensor.insert_slice %b into %r[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A value materialized in a destination takes the whole of it.
// CHECK-LABEL: func.func @materialized(
// CHECK-SAME:    [[X:%.*]]: tensor<4xf32>, [[D:%[^ ]*]]: tensor<4xf32>, [[M:%.*]]: memref<4xf32>)
// CHECK-NEXT:    [[A:%.*]] = linalg.map { math.exp } {{.*}} outs([[D]] :
// CHECK:         [[T:%.*]] = bufferization.to_tensor [[M]] restrict writable
// CHECK-NEXT:    [[B:%.*]] = linalg.map { math.sqrt } {{.*}} outs([[T]] :
// CHECK-NEXT:    bufferization.materialize_in_destination [[B]] in restrict writable [[M]]
func.func @materialized(%x: tensor<4xf32>, %d: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = bufferization.materialize_in_destination %a in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %b = linalg.map { math.sqrt } ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>)
  bufferization.materialize_in_destination %b in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return %r : tensor<4xf32>
}

// -----

// Rule 4: the elements that are about to be written may be read.
// CHECK-LABEL: func.func @updated(
// CHECK:         [[S:%.*]] = tensor.extract_slice [[D:%.*]][2] [4] [1]
// CHECK-NEXT:    [[E:%.*]] = tensor.extract_slice [[D]][2] [4] [1]
// CHECK-NEXT:    linalg.map { math.exp } ins([[S]] : tensor<4xf32>) outs([[E]] :
func.func @updated(%d: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %d[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.exp } ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %r = tensor.insert_slice %a into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// In a parallel loop each thread writes its part of the result.
// CHECK-LABEL: func.func @forall(
// CHECK:         scf.forall ([[I:%.*]]) in (2) shared_outs([[O:%.*]] = {{%.*}})
// CHECK:           [[P:%.*]] = tensor.extract_slice [[O]][[[I]]] [4] [1]
// CHECK-NEXT:      linalg.map { math.exp } {{.*}} outs([[P]] :
func.func @forall(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) in (2) shared_outs(%o = %d) -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// No elements, and no dimensions.
// CHECK-LABEL: func.func @small(
// CHECK:         tensor.extract_slice %{{.*}}[0] [0] [1] : tensor<8xf32> to tensor<0xf32>
// CHECK:         tensor.extract_slice %{{.*}}[3] [1] [1] : tensor<8xf32> to tensor<f32>
func.func @small(%x: tensor<0xf32>, %y: tensor<f32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<0xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<0xf32>) outs(%e : tensor<0xf32>)
  %r = tensor.insert_slice %a into %d[0] [0] [1] : tensor<0xf32> into tensor<8xf32>
  %f = tensor.empty() : tensor<f32>
  %b = linalg.map { math.exp } ins(%y : tensor<f32>) outs(%f : tensor<f32>)
  %s = tensor.insert_slice %b into %r[3] [1] [1] : tensor<f32> into tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// An empty function, and one without a body.
// CHECK-LABEL: func.func @nothing() {
// CHECK:       func.func private @elsewhere(tensor<4xf32>)
func.func @nothing() {
  return
}
func.func private @elsewhere(tensor<4xf32>)
