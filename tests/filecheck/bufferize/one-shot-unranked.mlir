// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize --hotdesk-buffer-deallocation | FileCheck %s --check-prefix=FREED

// A returned argument is a copy: sizes are read in a loop over the rank, elements are copied as one row.
// CHECK-LABEL: func.func @same(
// CHECK-SAME:    [[X:%.*]]: memref<*xf32>) -> memref<*xf32>
// CHECK:         [[RANK:%.*]] = memref.rank [[X]]
// CHECK-NEXT:    [[SHAPE:%.*]] = memref.alloc([[RANK]]) : memref<?xindex>
// CHECK-NEXT:    [[COUNT:%.*]] = scf.for [[I:%.*]] = %{{.*}} to [[RANK]] step %{{.*}} iter_args([[PRODUCT:%.*]] = %{{.*}}) -> (index)
// CHECK-NEXT:      [[SIZE:%.*]] = memref.dim [[X]], [[I]]
// CHECK-NEXT:      memref.store [[SIZE]], [[SHAPE]][[[I]]]
// CHECK-NEXT:      arith.muli [[PRODUCT]], [[SIZE]]
// CHECK:         [[NEW:%.*]] = memref.alloc([[COUNT]]) : memref<?xf32>
// CHECK-NEXT:    [[ROW:%.*]] = memref.alloc() : memref<1xindex>
// CHECK-NEXT:    memref.store [[COUNT]], [[ROW]]
// CHECK-NEXT:    [[ELEMENTS:%.*]] = memref.reshape [[X]]([[ROW]]) : (memref<*xf32>, memref<1xindex>) -> memref<?xf32>
// CHECK-NEXT:    memref.copy [[ELEMENTS]], [[NEW]]
// CHECK-NEXT:    [[R:%.*]] = memref.reshape [[NEW]]([[SHAPE]]) : (memref<?xf32>, memref<?xindex>) -> memref<*xf32>
// CHECK-NEXT:    return [[R]]
// FREED-LABEL: func.func @same(
// FREED:         memref.dealloc %{{.*}} : memref<1xindex>
// FREED:         memref.dealloc %{{.*}} : memref<?xindex>
// FREED-NEXT:    return
func.func @same(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}

// What is only read is seen with its rank where it lies.
// CHECK-LABEL: func.func @first(
// CHECK-NOT:     memref.alloc
// CHECK:         memref.cast %{{.*}} : memref<*xf32> to memref<?xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @first(%x: tensor<*xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %t = tensor.cast %x : tensor<*xf32> to tensor<?xf32>
  %e = tensor.extract %t[%c0] : tensor<?xf32>
  return %e : f32
}

// What a call alone sees without a rank lies where it is, until it is overwritten: the call behind reads it too, so that is a copy.
// CHECK-LABEL: func.func @lent(
// CHECK-NOT:     memref.alloc
// CHECK:         [[U:%.*]] = memref.cast %arg0 : memref<4xf32> to memref<*xf32>
// CHECK:         memref.store %arg1, %arg2[
// CHECK-NOT:     memref.alloc
// CHECK:         call @first([[U]])
func.func @lent(%x: tensor<4xf32> {hotdesk.donated}, %f: f32) -> (f32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %w = tensor.insert %f into %x[%c0] : tensor<4xf32>
  %g = func.call @first(%u) : (tensor<*xf32>) -> f32
  return %g, %w : f32, tensor<4xf32>
}

// What is seen with a rank and written is copied, with that rank.
// CHECK-LABEL: func.func @written(
// CHECK:         [[C:%.*]] = memref.cast %{{.*}} : memref<*xf32> to memref<4xf32>
// CHECK:         linalg.generic {{.*}} ins([[C]] : memref<4xf32>) outs(%arg2 : memref<4xf32>)
// CHECK:         memref.store %{{.*}}, %arg2
func.func @written(%x: tensor<*xf32>, %f: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
  %w = tensor.insert %f into %t[%c0] : tensor<4xf32>
  return %w : tensor<4xf32>
}

// Each of two is freed on its way.
// CHECK-LABEL: func.func @either(
// CHECK:         scf.if %{{.*}} -> (memref<*xf32>)
// FREED-LABEL: func.func @either(
// FREED:         scf.if %{{.*}} -> (memref<*xf32>)
// FREED:           func.call @same
// FREED-NEXT:      memref.dealloc
// FREED:         memref.dealloc %{{.*}} : memref<*xf32>
// FREED-NOT:     memref.dealloc
// FREED:         return
func.func @either(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %s = scf.if %c -> tensor<*xf32> {
    %q = func.call @same(%u) : (tensor<*xf32>) -> tensor<*xf32>
    scf.yield %q : tensor<*xf32>
  } else {
    scf.yield %u : tensor<*xf32>
  }
  %d = tensor.cast %s : tensor<*xf32> to tensor<4xf32>
  return %d : tensor<4xf32>
}

// A strided part is in row-major order before it is seen without a rank; what was copied for that is returned.
// CHECK-LABEL: func.func @part(
// CHECK:         [[NEW:%.*]] = memref.alloc() : memref<4xf32>
// CHECK:         [[U:%.*]] = memref.cast [[NEW]] : memref<4xf32> to memref<*xf32>
// CHECK-NEXT:    return [[U]]
func.func @part(%x: tensor<8xf32>) -> tensor<*xf32> {
  %s = tensor.extract_slice %x[0] [4] [2] : tensor<8xf32> to tensor<4xf32>
  %u = tensor.cast %s : tensor<4xf32> to tensor<*xf32>
  return %u : tensor<*xf32>
}

// From a rank to none and back again is one cast; sizes and rank are read from the descriptor.
// CHECK-LABEL: func.func @back(
// CHECK-NOT:     memref<*xf32>
// CHECK:         return
func.func @back(%x: tensor<4xf32>) -> tensor<?xf32> {
  %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %y = tensor.cast %u : tensor<*xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @sizes(
// CHECK:         memref.rank %arg0 : memref<*xf32>
// CHECK:         memref.dim %arg0, %arg1 : memref<*xf32>
func.func @sizes(%x: tensor<*xf32>, %i: index) -> (index, index) {
  %r = tensor.rank %x : tensor<*xf32>
  %d = tensor.dim %x, %i : tensor<*xf32>
  return %r, %d : index, index
}

// Memory that others may write is copied; so is what may be written, but not what is only read.
// CHECK-LABEL: func.func @edge(
// CHECK-SAME:    [[X:%.*]]: memref<*xf32>)
// CHECK:         memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         call @reads(%{{.*}}) : (memref<*xf32>) -> ()
// CHECK:         memref.copy
// CHECK:         call @writes(
func.func private @reads(tensor<*xf32> {bufferization.access = "read"})
func.func private @writes(tensor<*xf32>)
func.func @edge(%m: memref<*xf32>) {
  %t = bufferization.to_tensor %m : memref<*xf32> to tensor<*xf32>
  func.call @reads(%t) : (tensor<*xf32>) -> ()
  func.call @writes(%t) : (tensor<*xf32>) -> ()
  return
}
