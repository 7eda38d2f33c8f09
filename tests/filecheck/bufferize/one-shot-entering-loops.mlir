// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// Arguments that change places among themselves alone may enter with one buffer.
// CHECK-LABEL: func.func @swap(
// CHECK:         [[V:%.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK:         [[R:%.*]]:2 = scf.for {{.*}} iter_args([[X:%.*]] = [[V]], [[Y:%.*]] = [[V]]) -> (memref<4xi32>, memref<4xi32>)
// CHECK-NEXT:      scf.yield [[Y]], [[X]]
// CHECK:         linalg.add ins({{.*}}, [[R]]#1 : {{.*}}) outs([[R]]#1 :
func.func @swap(%a: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %v, %y = %v) -> (tensor<4xi32>, tensor<4xi32>) {
    scf.yield %y, %x : tensor<4xi32>, tensor<4xi32>
  }
  %w = linalg.add ins(%a, %r#1 : tensor<4xi32>, tensor<4xi32>) outs(%r#1 : tensor<4xi32>) -> tensor<4xi32>
  return %w : tensor<4xi32>
}

// -----

// Their memory becomes that of a third one: the second that enters gets a copy.
// CHECK-LABEL: func.func @rotation(
// CHECK:         [[V:%.*]] = memref.alloc()
// CHECK:         [[COPY:%.*]] = memref.alloc()
// CHECK:         linalg.generic {{.*}} ins([[V]] : memref<4xi32>) outs([[COPY]] : memref<4xi32>)
// CHECK:         scf.for {{.*}} iter_args([[X:%.*]] = [[V]], [[Y:%.*]] = [[COPY]], [[Z:%.*]] = %{{.*}}) ->
// CHECK-NEXT:      scf.yield [[Y]], [[Z]], [[X]]
func.func @rotation(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%x = %v, %y = %v, %z = %a)
      -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    scf.yield %y, %z, %x : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  %w = linalg.add ins(%a, %r#2 : tensor<4xi32>, tensor<4xi32>) outs(%r#2 : tensor<4xi32>) -> tensor<4xi32>
  return %r#0, %w : tensor<4xi32>, tensor<4xi32>
}

// -----

// One that stays keeps what it entered with; what enters with it and changes places is copied.
// CHECK-LABEL: func.func @stays(
// CHECK-SAME:    [[OUT:%[^ ]*]]: memref<4xi32> {bufferize.result = 0
// CHECK:         [[U:%.*]] = memref.alloc()
// CHECK:         [[COPY:%.*]] = memref.alloc()
// CHECK:         linalg.generic {{.*}} ins([[OUT]] : memref<4xi32>) outs([[COPY]] : memref<4xi32>)
// CHECK:         scf.for {{.*}} iter_args([[Z:%.*]] = [[OUT]], [[X:%.*]] = [[COPY]], [[Y:%.*]] = [[U]]) ->
// CHECK-NEXT:      scf.yield [[Z]], [[Y]], [[X]]
func.func @stays(%a: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %u = arith.muli %a, %a : tensor<4xi32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%z = %v, %x = %v, %y = %u)
      -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    scf.yield %z, %y, %x : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  %w = linalg.add ins(%a, %r#2 : tensor<4xi32>, tensor<4xi32>) outs(%r#2 : tensor<4xi32>) -> tensor<4xi32>
  return %r#0, %w : tensor<4xi32>, tensor<4xi32>
}

// -----

// What is copied in a cycle is not set aside and copied back: one argument has new memory in each iteration.
// CHECK-LABEL: func.func @cycle(
// CHECK-SAME:    [[A:%.*]]: memref<4xi32>, {{.*}}: index, {{.*}}: i1, [[OUT:%.*]]: memref<4xi32>
// CHECK:         [[V:%.*]] = memref.alloc()
// CHECK:         linalg.generic {{.*}} ins([[A]] : memref<4xi32>) outs([[OUT]] : memref<4xi32>)
// CHECK:         scf.for {{.*}} iter_args([[Y:%.*]] = [[V]], [[Z:%.*]] = [[OUT]]) ->
// CHECK:           [[K:%.*]] = arith.select %{{.*}}, [[Y]], [[V]]
// CHECK-NEXT:      [[NEW:%.*]] = memref.alloc()
// CHECK-NEXT:      linalg.generic {{.*}} ins([[Z]] : memref<4xi32>) outs([[NEW]] : memref<4xi32>)
// CHECK:           linalg.generic {{.*}} ins([[K]] : memref<4xi32>) outs([[OUT]] : memref<4xi32>)
// CHECK-NOT:       linalg.generic
// CHECK:           scf.yield [[NEW]], [[OUT]]
func.func @cycle(%a: tensor<4xi32>, %n: index, %c: i1) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.addi %a, %a : tensor<4xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%y = %v, %z = %a) -> (tensor<4xi32>, tensor<4xi32>) {
    %k = arith.select %c, %y, %v : tensor<4xi32>
    scf.yield %z, %k : tensor<4xi32>, tensor<4xi32>
  }
  return %r#1 : tensor<4xi32>
}
