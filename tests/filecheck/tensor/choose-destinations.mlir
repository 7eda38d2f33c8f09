// RUN: %hotdesk-opt %s --split-input-file --hotdesk-rematerialize-cheap-ops --hotdesk-choose-destinations | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-rematerialize-cheap-ops --hotdesk-choose-destinations \
// RUN:   --hotdesk-one-shot-bufferize --print-decisions 2>&1 | FileCheck %s --check-prefix=MEM

// Each op overwrites what it reads last: no buffer beyond the two arguments.
// CHECK-LABEL: func.func @donated(
// CHECK-SAME:    [[X1:%.*]]: tensor<8xf32> {hotdesk.donated}, [[X2:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         [[X3:%.*]] = linalg.map { math.tanh } ins([[X2]] : tensor<8xf32>) outs([[X2]] :
// CHECK:         [[X4:%.*]] = linalg.map { arith.addf } ins([[X3]], [[X1]] : tensor<8xf32>, tensor<8xf32>) outs([[X3]] :
// CHECK:         linalg.map { math.tanh } ins([[X4]] : tensor<8xf32>) outs([[X4]] :
// MEM-LABEL:   func.func @donated(
// MEM-NOT:       memref.alloc
// MEM:           return
func.func @donated(%x1: tensor<8xf32> {hotdesk.donated}, %x2: tensor<8xf32> {hotdesk.donated}) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %x3 = linalg.map { math.tanh } ins(%x2 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x4 = linalg.map { arith.addf } ins(%x3, %x1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x5 = linalg.map { math.tanh } ins(%x4 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %r = tensor.extract_slice %x5[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %r : tensor<1xf32>
}

// -----

// Arguments that belong to the caller: one buffer for all three.
// CHECK-LABEL: func.func @owned(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[X3:%.*]] = linalg.map { math.tanh } {{.*}} outs([[E]] :
// CHECK:         [[X4:%.*]] = linalg.map { arith.addf } {{.*}} outs([[X3]] :
// CHECK:         linalg.map { math.tanh } {{.*}} outs([[X4]] :
// MEM:           decision: result of linalg.map: allocated: not-writable-input, 32 bytes
// MEM-NEXT:      decision: result of linalg.map: in place: dies-here
// MEM-NEXT:      decision: result of linalg.map: in place: dies-here
// MEM-LABEL:   func.func @owned(
// MEM:           memref.alloc
// MEM-NOT:       memref.alloc
// MEM:           return
func.func @owned(%x1: tensor<8xf32>, %x2: tensor<8xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %x3 = linalg.map { math.tanh } ins(%x2 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x4 = linalg.map { arith.addf } ins(%x3, %x1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x5 = linalg.map { math.tanh } ins(%x4 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %r = tensor.extract_slice %x5[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %r : tensor<1xf32>
}

// -----

// A value that is read again keeps its buffer, and the decision names the reader.
// CHECK-LABEL: func.func @later_reader(
// CHECK:         [[X3:%.*]] = linalg.map { math.tanh }
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    [[X4:%.*]] = linalg.map { arith.addf } ins([[X3]], {{.*}} outs([[E]] :
// CHECK:         [[X5:%.*]] = linalg.map { math.tanh } {{.*}} outs([[X4]] :
// CHECK:         linalg.map { arith.mulf } ins([[X5]], [[X3]] : {{.*}} outs([[X5]] :
// MEM:           decision: result of linalg.map: allocated: read-later, 32 bytes (linalg.map at {{.*}}choose-destinations.mlir:{{[0-9:]+}}, linalg.map at {{.*}}choose-destinations.mlir:{{[0-9:]+}})
func.func @later_reader(%x1: tensor<8xf32>, %x2: tensor<8xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %x3 = linalg.map { math.tanh } ins(%x2 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x4 = linalg.map { arith.addf } ins(%x3, %x1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x5 = linalg.map { math.tanh } ins(%x4 : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %x6 = linalg.map { arith.mulf } ins(%x5, %x3 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  %r = tensor.extract_slice %x6[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %r : tensor<1xf32>
}

// -----

// CHECK-LABEL: func.func @different_element_type(
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<8xi32>
// CHECK-NEXT:    linalg.map { arith.fptosi } {{.*}} outs([[E]] :
func.func @different_element_type(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.map { arith.fptosi } ins(%x : tensor<8xf32>) outs(%e : tensor<8xi32>)
  return %r : tensor<8xi32>
}

// -----

// Equal names are equal sizes.
// CHECK-LABEL: func.func @equal_sizes(
// CHECK-SAME:    [[X:%.*]]: tensor<?xf32> {hotdesk.donated
// CHECK:         linalg.map { math.tanh } ins([[X]] : tensor<?xf32>) outs([[X]] :
func.func @equal_sizes(%x: tensor<?xf32> {hotdesk.donated, hotdesk.shape = ["n"]}, %y: tensor<?xf32> {hotdesk.shape = ["n"]}) -> tensor<1xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %y, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  %part = tensor.extract_slice %r[0] [1] [1] : tensor<?xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}

// -----

// Two names may be two sizes.
// CHECK-LABEL: func.func @sizes_not_proven_equal(
// CHECK:         [[E:%.*]] = tensor.empty({{%.*}}) : tensor<?xf32>
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[E]] :
func.func @sizes_not_proven_equal(%x: tensor<?xf32> {hotdesk.donated, hotdesk.shape = ["n"]}, %y: tensor<?xf32> {hotdesk.shape = ["m"]}) -> tensor<?xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %y, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %r : tensor<?xf32>
}

// -----

// An operand that is read in another order than the result is written is not overwritten.
// CHECK-LABEL: func.func @transposed(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    linalg.generic {{.*}} outs([[E]] :
func.func @transposed(%x: tensor<4x4xf32> {hotdesk.donated}) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A part of a buffer would keep all of it alive.
// CHECK-LABEL: func.func @partial_view(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[E]] :
func.func @partial_view(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.tanh } ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// A view of all of it is as good as the buffer.
// CHECK-LABEL: func.func @whole_view(
// CHECK:         [[V:%.*]] = tensor.expand_shape
// CHECK:         linalg.map { math.tanh } ins([[V]] : tensor<2x4xf32>) outs([[V]] :
func.func @whole_view(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<1x1xf32> {
  %s = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %r = linalg.map { math.tanh } ins(%s : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %part = tensor.extract_slice %r[0, 0] [1, 1] [1, 1] : tensor<2x4xf32> to tensor<1x1xf32>
  return %part : tensor<1x1xf32>
}

// -----

// The first operand that qualifies.
// CHECK-LABEL: func.func @several_candidates(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>, [[Y:%.*]]: tensor<8xf32> {hotdesk.donated}, [[Z:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         linalg.generic {{.*}} ins([[X]], [[Y]], [[Z]] : {{.*}} outs([[Y]] :
func.func @several_candidates(%x: tensor<8xf32>, %y: tensor<8xf32> {hotdesk.donated}, %z: tensor<8xf32> {hotdesk.donated}) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %part = tensor.extract_slice %r[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}

// -----

// An op that has a destination keeps it.
// CHECK-LABEL: func.func @own_init(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32> {hotdesk.donated}, [[Y:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         linalg.map { math.tanh } ins([[X]] : tensor<8xf32>) outs([[Y]] :
func.func @own_init(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<1xf32> {
  %r = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>)
  %part = tensor.extract_slice %r[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}

// -----

// One operand serves one result.
// CHECK-LABEL: func.func @two_results(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32> {hotdesk.donated})
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK:         linalg.generic {{.*}} ins([[X]] : tensor<8xf32>) outs([[X]], [[E]] :
func.func @two_results(%x: tensor<8xf32> {hotdesk.donated}) -> (tensor<1xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = math.tanh %a : f32
    %t = math.exp %a : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %part = tensor.extract_slice %r#0[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %part, %r#1 : tensor<1xf32>, tensor<8xf32>
}

// -----

// A result is computed in the caller's memory for it, not in an argument from which it would be copied there.
// CHECK-LABEL: func.func @returned(
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[E]] :
// MEM-LABEL:   func.func @returned(
// MEM-SAME:      [[X:%.*]]: memref<8xf32> {hotdesk.donated}, [[R:%.*]]: memref<8xf32>
// MEM-NEXT:      linalg.map { math.tanh } ins([[X]] : memref<8xf32>) outs([[R]] :
// MEM-NEXT:      return
func.func @returned(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// What is one of two buffers, seen at run time, is not overwritten: the result would be in either of them.
// CHECK-LABEL: func.func @one_of_two(
// CHECK:         arith.select
// CHECK:         [[E:%.*]] = tensor.empty()
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[E]] :
func.func @one_of_two(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}, %c: i1) -> tensor<1xf32> {
  %s = arith.select %c, %x, %y : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { math.tanh } ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %part = tensor.extract_slice %r[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}
