// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// What a parallel loop reads of a tensor without contents must not be what other executions write, although it is of no use: the
// fill and the insertions get other memory than %e.

// CHECK-LABEL: func.func @read_in_loop
// CHECK-SAME: %[[IN:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32> {bufferize.result
// CHECK: %[[E:.*]] = memref.alloc() : memref<4xf32>
// CHECK: linalg.fill {{.*}} outs(%[[OUT]] : memref<4xf32>)
// CHECK: scf.forall
// CHECK: memref.load %[[E]]
func.func @read_in_loop(%in: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %filled) -> tensor<4xf32> {
    %unset = tensor.extract %e[%i] : tensor<4xf32>
    %x = tensor.extract %in[%i] : tensor<4xf32>
    %c = arith.cmpf oeq, %x, %x : f32
    %chosen = arith.select %c, %x, %unset : f32
    %one = tensor.from_elements %chosen : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

// A read outside of parallel loops may see anything.

// CHECK-LABEL: func.func @read_in_line
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @read_in_line(%i: index) -> (tensor<4xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %unset = tensor.extract %e[%i] : tensor<4xf32>
  return %filled, %unset : tensor<4xf32>, f32
}
