// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// Rule 1: an operand that dies is written where it lies.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32> {hotdesk.donated}, [[Y:%.*]]: memref<8xf32> {hotdesk.donated}, [[OUT:%.*]]: memref<4xf32> {bufferize.result = 0
// CHECK-NEXT:    linalg.map { arith.addf } ins([[X]], [[Y]] : memref<8xf32>, memref<8xf32>) outs([[Y]] :
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[Y]][4] [4] [1]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[V]] : {{.*}} outs([[OUT]] :
// CHECK:         return{{$}}
func.func @in_place(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}) -> tensor<4xf32> {
  %r = linalg.map { arith.addf } ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>)
  %s = tensor.extract_slice %r[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// One that is read later gets a new buffer, with a copy of its contents where the op reads them.
// CHECK-LABEL: func.func @copy_needed(
// CHECK-SAME:    [[Y:%[^ ]*]]: memref<4x4xf32> {hotdesk.donated}, [[A:%.*]]: memref<4x4xf32> {bufferize.result = 0{{.*}}, [[B:%.*]]: memref<4x4xf32> {bufferize.result = 1
// CHECK-NEXT:    linalg.generic {{.*}} ins([[Y]] : {{.*}} outs([[A]] :
// CHECK:         linalg.matmul {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.generic {{.*}} ins([[A]] : {{.*}} outs([[B]] :
// CHECK:         linalg.matmul ins({{%.*}}, [[Y]] : {{.*}} outs([[B]] :
func.func @copy_needed(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %y: tensor<4x4xf32> {hotdesk.donated}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %r = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%r : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @overwritten_contents_are_not_copied(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32>, [[Y:%.*]]: memref<8xf32>, [[OUT:%.*]]: memref<8xf32>
// CHECK-NEXT:    linalg.map { math.tanh } ins([[X]] : memref<8xf32>) outs([[OUT]] :
// CHECK-NEXT:    return
func.func @overwritten_contents_are_not_copied(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>)
  return %r : tensor<8xf32>
}

// -----

// Insertions write parts of one buffer.
// CHECK-LABEL: func.func @insert_into_undefined(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[Y:%.*]]: memref<4xf32>, [[OUT:%.*]]: memref<8xf32>
// CHECK-NEXT:    [[A:%.*]] = memref.subview [[OUT]][0] [4] [1]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : {{.*}} outs([[A]] :
// CHECK:         [[B:%.*]] = memref.subview [[OUT]][4] [4] [1]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[Y]] : {{.*}} outs([[B]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @insert_into_undefined(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %b = tensor.insert_slice %y into %a[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// What an insertion leaves as it was has to be copied first.
// CHECK-LABEL: func.func @insert_into_an_argument(
// CHECK-SAME:    [[X:%.*]]: memref<2x2xf32>, [[Y:%.*]]: memref<4x4xf32>, [[OUT:%.*]]: memref<4x4xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[Y]] : {{.*}} outs([[OUT]] :
// CHECK:         [[V:%.*]] = memref.subview [[OUT]][1, 1] [2, 2] [1, 2] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 2], offset: 5>>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : {{.*}} outs([[V]] :
func.func @insert_into_an_argument(%x: tensor<2x2xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = tensor.insert_slice %x into %y[1, 1] [2, 2] [1, 2] : tensor<2x2xf32> into tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @slice_is_a_view(
// CHECK-SAME:    [[X:%.*]]: memref<4x6xf32>, [[N:%.*]]: index,
// CHECK-NEXT:    [[V:%.*]] = memref.subview [[X]][[[N]], 0] [1, 3] [1, 2] : memref<4x6xf32> to memref<3xf32, strided<[2], offset: ?>>
// CHECK-NEXT:    linalg.map { math.tanh } ins([[V]] :
func.func @slice_is_a_view(%x: tensor<4x6xf32>, %n: index) -> tensor<3xf32> {
  %a = tensor.extract_slice %x[%n, 0] [1, 3] [1, 2] : tensor<4x6xf32> to tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.map { math.tanh } ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>)
  return %r : tensor<3xf32>
}

// -----

// Rows with gaps between them are no longer rows: they are copied together.
// CHECK-LABEL: func.func @collapse_of_gaps(
// CHECK:         [[V:%.*]] = memref.subview
// CHECK-NEXT:    [[A:%.*]] = memref.alloc() : memref<4x3xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins([[V]] : {{.*}} outs([[A]] :
// CHECK:         [[C:%.*]] = memref.collapse_shape [[A]]
// CHECK-NEXT:    linalg.map { math.tanh } ins([[C]] :
func.func @collapse_of_gaps(%x: tensor<4x6xf32>) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %r = linalg.map { math.tanh } ins(%b : tensor<12xf32>) outs(%e : tensor<12xf32>)
  return %r : tensor<12xf32>
}

// -----

// Whole rows are not.
// CHECK-LABEL: func.func @collapse_of_rows(
// CHECK-NOT:     memref.alloc
// CHECK:         memref.collapse_shape {{.*}} into memref<12xf32, strided<[1], offset: 6>>
func.func @collapse_of_rows(%x: tensor<4x6xf32>) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<2x6xf32> into tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %r = linalg.map { math.tanh } ins(%b : tensor<12xf32>) outs(%e : tensor<12xf32>)
  return %r : tensor<12xf32>
}

// -----

// Rule 3: a result has memory of its own.
// CHECK-LABEL: func.func @returned_input(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32>, [[OUT:%.*]]: memref<4xf32> {bufferize.result
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : {{.*}} outs([[OUT]] :
func.func @returned_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @returned_twice(
// CHECK-SAME:    [[A:%[^ ]*]]: memref<4xf32> {bufferize.result = 0{{.*}}, [[B:%.*]]: memref<4xf32> {bufferize.result = 1
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.generic {{.*}} ins([[A]] : {{.*}} outs([[B]] :
func.func @returned_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// A reshape of all of a buffer may be the caller's memory, a part of it is copied.
// CHECK-LABEL: func.func @returned_views(
// CHECK-SAME:    [[A:%[^ ]*]]: memref<2x2xf32> {bufferize.result = 0{{.*}}, [[B:%.*]]: memref<2xf32> {bufferize.result = 1
// CHECK-NEXT:    [[R:%.*]] = memref.reinterpret_cast [[A]] to offset: [0], sizes: [4], strides: [1]
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[R]] :
// CHECK:         [[V:%.*]] = memref.subview [[R]][1] [2] [1]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[V]] : {{.*}} outs([[B]] :
func.func @returned_views(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.tanh } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %a = tensor.expand_shape %r [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %b = tensor.extract_slice %r[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %a, %b : tensor<2x2xf32>, tensor<2xf32>
}

// -----

// Constants are read where they are and never written.
// CHECK:       memref.global "private" constant @constant_0 : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    [[X:%.*]]: memref<2xf32>, [[A:%.*]]: memref<2xf32> {bufferize.result = 0{{.*}}, [[B:%.*]]: memref<2xf32> {bufferize.result = 1
// CHECK-NEXT:    [[C:%.*]] = memref.get_global @constant_0
// CHECK-NEXT:    linalg.generic {{.*}} ins([[C]] : {{.*}} outs([[A]] :
// CHECK:         linalg.generic {{.*}} ins([[X]] : {{.*}} outs([[A]] :
// CHECK:         linalg.generic {{.*}} ins([[C]] : {{.*}} outs([[B]] :
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r, %c : tensor<2xf32>, tensor<2xf32>
}

// -----

// Rule 2: memory is made right in front of what writes it, with the sizes of the undefined tensor.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    [[X:%.*]]: memref<?x3xf32> {hotdesk.shape = ["n", "3"]}, [[OUT:%.*]]: memref<?x3xf32> {bufferize.result = 0 : i64, hotdesk.shape = ["n", "3"]})
// CHECK:         [[N:%.*]] = memref.dim [[X]]
// CHECK-NEXT:    [[A:%.*]] = memref.alloc([[N]]) : memref<?x3xf32>
// CHECK-NEXT:    linalg.map { math.tanh } {{.*}} outs([[A]] :
// CHECK-NEXT:    linalg.map { math.exp } ins([[A]] : memref<?x3xf32>) outs([[OUT]] :
func.func @dynamic(%x: tensor<?x3xf32> {hotdesk.shape = ["n", "3"]}) -> tensor<?x3xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %a = linalg.map { math.tanh } ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>)
  %d = tensor.empty(%n) : tensor<?x3xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<?x3xf32>) outs(%d : tensor<?x3xf32>)
  return %b : tensor<?x3xf32>
}

// -----

// A tensor read in a region is loaded from its buffer.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME:    [[T:%.*]]: memref<16xf32>, {{%.*}}: memref<4xindex>,
// CHECK:         ^bb0([[I:%.*]]: index,
// CHECK-NEXT:      memref.load [[T]][[[I]]] : memref<16xf32>
func.func @captured(%table: tensor<16xf32>, %at: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: index, %o: f32):
    %t = tensor.extract %table[%a] : tensor<16xf32>
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Functions without a body: those on tensors are on memrefs, those of other dialects stay.
// CHECK:         llvm.func @external(i32) -> i32
// CHECK:         func.func private @declared(memref<4xf32>)
// CHECK-LABEL: func.func @calls(
llvm.func @external(i32) -> i32
func.func private @declared(tensor<4xf32>)
func.func @calls(%x: tensor<4xf32>) {
  call @declared(%x) : (tensor<4xf32>) -> ()
  return
}
