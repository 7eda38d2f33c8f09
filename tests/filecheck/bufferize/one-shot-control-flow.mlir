// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=allow-return-allocs-from-loops=false \
// RUN:   | FileCheck %s --check-prefix=BACK

// A loop in place: its argument is a buffer, and no copy is made in an iteration.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    [[X:%.*]]: memref<8xf32> {hotdesk.donated}
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[B:%.*]] = [[X]]) -> (memref<8xf32>)
// CHECK-NEXT:      linalg.map { math.tanh } ins([[B]] : memref<8xf32>) outs([[B]] : memref<8xf32>)
// CHECK-NEXT:      scf.yield [[B]]
func.func @in_place(%x: tensor<8xf32> {hotdesk.donated}, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%b = %x) -> tensor<8xf32> {
    %y = linalg.map { math.tanh } ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>)
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// What enters a loop and is read behind it is copied once, in front of the loop.
// CHECK-LABEL: func.func @read_behind(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32> {hotdesk.donated}, %{{.*}}: index, [[COPY:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK:         linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[COPY]] : memref<8xf32>)
// CHECK:         scf.for {{.*}} iter_args({{.*}} = [[COPY]])
// CHECK-NEXT:      linalg.map
// CHECK-NEXT:      scf.yield
func.func @read_behind(%x: tensor<8xf32> {hotdesk.donated}, %n: index) -> (tensor<8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%b = %x) -> tensor<8xf32> {
    %y = linalg.map { math.tanh } ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>)
    scf.yield %y : tensor<8xf32>
  }
  %s = linalg.map { arith.addf } ins(%x, %r : tensor<8xf32>, tensor<8xf32>) outs(%r : tensor<8xf32>)
  return %s : tensor<8xf32>
}

// -----

// Buffers that change places in a loop are passed on; nothing is copied in it.
// CHECK-LABEL: func.func @swap(
// CHECK:         scf.for {{.*}} iter_args([[B:%.*]] = %{{.*}}, [[C:%.*]] = %{{.*}}) -> (memref<8xf32>, memref<8xf32>)
// CHECK-NEXT:      linalg.map { math.tanh } ins([[B]] : memref<8xf32>) outs([[B]] : memref<8xf32>)
// CHECK-NEXT:      scf.yield [[C]], [[B]]
func.func @swap(%x: tensor<8xf32> {hotdesk.donated}, %y: tensor<8xf32> {hotdesk.donated}, %n: index)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%b = %x, %c = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %t = linalg.map { math.tanh } ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>)
    scf.yield %c, %t : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A new tensor that is yielded is computed where the argument lies. If the argument is wanted until then, it is passed on, and copied
// behind the loop; or it is copied back in each iteration, where loops must not yield new memory.
// CHECK-LABEL: func.func @fresh(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<4x4xf32>, {{.*}} [[OUT:%[^ ]*]]: memref<4x4xf32> {bufferize.result = 0
// CHECK-NOT:     linalg.generic
// CHECK:         [[R:%.*]] = scf.for {{.*}} iter_args([[B:%.*]] = [[X]])
// CHECK:           [[NEW:%.*]] = memref.alloc()
// CHECK:           linalg.fill {{.*}} outs([[NEW]]
// CHECK:           linalg.matmul ins([[B]], [[B]] : {{.*}} outs([[NEW]]
// CHECK-NEXT:      scf.yield [[NEW]]
// CHECK:         linalg.generic {{.*}} ins([[R]] : memref<4x4xf32>) outs([[OUT]] : memref<4x4xf32>)
// BACK-LABEL: func.func @fresh(
// BACK-SAME:    [[OUT:%[^ ]*]]: memref<4x4xf32> {bufferize.result = 0
// BACK:         scf.for
// BACK:           [[NEW:%.*]] = memref.alloc()
// BACK:           linalg.matmul {{.*}} outs([[NEW]]
// BACK:           linalg.generic {{.*}} ins([[NEW]] : memref<4x4xf32>) outs([[OUT]] : memref<4x4xf32>)
// BACK:           scf.yield [[OUT]]
func.func @fresh(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %r = scf.for %i = %zero to %n step %one iter_args(%b = %x) -> tensor<4x4xf32> {
    %e = tensor.empty() : tensor<4x4xf32>
    %z = linalg.fill ins(%f : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = linalg.matmul ins(%b, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %y : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// Two branches compute their results in one buffer, that of the result.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    [[OUT:%[^ ]*]]: memref<8xf32> {bufferize.result = 0
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if
// CHECK:           linalg.map { math.tanh } {{.*}} outs([[OUT]]
// CHECK:         } else {
// CHECK:           linalg.map { math.exp } {{.*}} outs([[OUT]]
func.func @branches(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.if %c -> tensor<8xf32> {
    %y = linalg.map { math.tanh } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
    scf.yield %y : tensor<8xf32>
  } else {
    %y = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Disjoint parts of one buffer: the second half is read, the first written, and the insertion finds it done.
// CHECK-LABEL: func.func @halves(
// CHECK:         [[A:%.*]] = memref.subview %{{.*}}[0] [4] [1]
// CHECK:         [[B:%.*]] = memref.subview %{{.*}}[4] [4] [1]
// CHECK:         linalg.map { math.tanh } ins([[B]] : {{.*}}) outs([[A]] :
// CHECK-NOT:     memref.alloc
func.func @halves(%x: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %a = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %y = linalg.map { math.tanh } ins(%b : tensor<4xf32>) outs(%a : tensor<4xf32>)
  %r = tensor.insert_slice %y into %x[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// What is selected later is wanted until then: one of both is computed in the result, the other copied there if it is chosen.
// CHECK-LABEL: func.func @selected(
// CHECK-SAME:      [[X:%[a-z0-9]+]]: memref<8xf32> {hotdesk.donated}, [[C:%[a-z0-9]+]]: i1, [[R:%[a-z0-9]+]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.fill {{.*}} outs([[R]] :
// CHECK-NEXT:    scf.if [[C]] {
// CHECK-NEXT:      linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
func.func @selected(%x: tensor<8xf32> {hotdesk.donated}, %c: i1) -> tensor<8xf32> {
  %f = arith.constant 0.0 : f32
  %z = linalg.fill ins(%f : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %r = arith.select %c, %x, %z : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A callee writes its result into memory of its caller's.
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME:    %arg0: memref<8xf32> {hotdesk.access = "read"}, [[OUT:%.*]]: memref<8xf32> {bufferize.result = 0
// CHECK:         linalg.map { arith.addf } {{.*}} outs([[OUT]]
// CHECK-LABEL: func.func @caller(
// CHECK:         call @twice(%arg0, %arg1) : (memref<8xf32>, memref<8xf32>) -> ()
func.func private @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.map { arith.addf } ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %r : tensor<8xf32>
}
func.func @caller(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = func.call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func private @made(%x: tensor<8xf32>) -> tensor<8xf32>

// Memory that a call returns is yielded only where a loop may yield new memory; else what is in it is copied back, if it is read.
// BACK-LABEL: func.func @call_result(
// BACK:         [[R:%.*]] = scf.for {{.*}} iter_args({{.*}} = [[M:%.*]]) -> (memref<8xf32>)
// BACK:           [[Y:%.*]] = func.call @made(
// BACK:           linalg.generic {{.*}} ins([[Y]] : memref<8xf32>) outs([[M]] : memref<8xf32>)
// BACK:           scf.yield [[M]]
func.func @call_result(%z: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%b = %x) -> tensor<8xf32> {
    %y = func.call @made(%z) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func private @made(%x: tensor<8xf32>) -> tensor<8xf32>

// BACK-LABEL: func.func @call_result_unread(
// BACK:         scf.for {{.*}} iter_args([[A:%.*]] = {{.*}}, %{{.*}} = [[M:%[^)]*]])
// BACK:           func.call @made(
// BACK-NOT:       linalg.generic
// BACK:           scf.yield [[A]], [[M]]
func.func @call_result_unread(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%b = %x, %c = %x) -> (tensor<8xf32>, tensor<8xf32>) {
    %y = func.call @made(%b) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %b, %y : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0 : tensor<8xf32>
}

// -----

// A loop inside swaps buffers, so its results are in any of several: what the outer loop yields is copied to one that it has.
// BACK-LABEL: func.func @swapped_inside(
// BACK:         scf.for {{.*}} iter_args({{.*}} = [[M:%.*]]) -> (memref<8xf32>)
// BACK:           [[IN:%.*]]:2 = scf.for
// BACK:           linalg.generic {{.*}} ins([[IN]]#0 {{.*}} outs([[M]] :
// BACK:           scf.yield [[M]]
func.func @swapped_inside(%x: tensor<8xf32>, %z: tensor<8xf32>, %n: index, %m: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<8xf32> {
    %s:2 = scf.for %j = %zero to %m step %one iter_args(%p = %a, %q = %z) -> (tensor<8xf32>, tensor<8xf32>) {
      scf.yield %q, %p : tensor<8xf32>, tensor<8xf32>
    }
    scf.yield %s#0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
