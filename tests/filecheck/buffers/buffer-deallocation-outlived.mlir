// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --hotdesk-buffer-deallocation
// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --hotdesk-buffer-deallocation="mode=copies"
// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --hotdesk-buffer-deallocation="private-function-dynamic-ownership=true"

// Tensors and handles that would outlive the memory behind them are refused, in every mode.

func.func @tensor_returned(%x: memref<4xf32>) -> tensor<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{a tensor that `func.return` passes on (tensor<4xf32>): expected one that leads to no memory}}
  return %t : tensor<4xf32>
}

// -----

func.func @tensor_yielded(%x: memref<4xf32>, %p: i1, %i: index) -> f32 {
  %e = tensor.empty() : tensor<4xf32>
  %y = scf.if %p -> tensor<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
    // expected-error@+1 {{a tensor that `scf.yield` passes on (tensor<4xf32>): expected one that leads to no memory}}
    scf.yield %t : tensor<4xf32>
  } else {
    scf.yield %e : tensor<4xf32>
  }
  %f = tensor.extract %y[%i] : tensor<4xf32>
  return %f : f32
}

// -----

func.func @tensor_to_a_block(%x: memref<4xf32>, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{a tensor that `cf.br` passes on (tensor<4xf32>): expected one that leads to no memory}}
  cf.br ^next(%t : tensor<4xf32>)
^next(%y: tensor<4xf32>):
  %f = tensor.extract %y[%i] : tensor<4xf32>
  return %f : f32
}

// -----

func.func @handle_returned(%x: memref<4xf32>) -> !llvm.ptr {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %h = builtin.unrealized_conversion_cast %a : memref<4xf32> to !llvm.ptr
  // expected-error@+1 {{a pointer or handle that `func.return` passes on (!llvm.ptr): expected one that leads to no}}
  return %h : !llvm.ptr
}

// -----

func.func @handle_yielded(%x: memref<4xf32>, %p: i1) -> f32 {
  %n = llvm.mlir.zero : !llvm.ptr
  %y = scf.if %p -> !llvm.ptr {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    %h = builtin.unrealized_conversion_cast %a : memref<4xf32> to !llvm.ptr
    // expected-error@+1 {{a pointer or handle that `scf.yield` passes on (!llvm.ptr): expected one that leads to no}}
    scf.yield %h : !llvm.ptr
  } else {
    scf.yield %n : !llvm.ptr
  }
  %f = llvm.load %y : !llvm.ptr -> f32
  return %f : f32
}

// -----

func.func @pointer_yielded(%x: memref<4xf32>, %p: i1, %i: index) -> index {
  %y = scf.if %p -> index {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    %t = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
    // expected-error@+1 {{memory that `scf.yield` passes on}}
    scf.yield %t : index
  } else {
    scf.yield %i : index
  }
  %k = arith.addi %y, %y : index
  return %k : index
}

// -----

func.func @no_rank(%x: memref<*xf32>) -> memref<*xf32> {
  // expected-error@+1 {{give it a rank by memref.cast}}
  return %x : memref<*xf32>
}

// -----

func.func @out_of_an_unknown_op() {
  %r = "custom.region"() ({
    %a = memref.alloc() : memref<4xf32>
    // expected-error@+1 {{an op whose flow a model describes}}
    "custom.yield"(%a) : (memref<4xf32>) -> ()
  }) : () -> memref<4xf32>
  return
}
