// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers="threads=3 max-growth-in-bytes=-1" --print-decisions 2>&1 | FileCheck %s

// The size is computed in front of the loop; there are no more rows than iterations.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 0 bytes
// CHECK-LABEL: func.func @as_large_as_the_argument(
// CHECK-SAME:    [[X:%.*]]: memref<?xf32>, [[N:%.*]]: index)
// CHECK:         [[COUNT:%.*]] = arith.maxsi
// CHECK:         [[DIM:%.*]] = memref.dim [[X]], %c0{{.*}} : memref<?xf32>
// CHECK:         [[ROWS:%.*]] = arith.minsi [[COUNT]], %c3{{.*}} : index
// CHECK:         [[BYTES:%.*]] = arith.muli %{{.*}}, [[ROWS]] : index
// CHECK:         [[FRAME:%.*]] = memref.alloc([[BYTES]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         scf.parallel
// CHECK:           memref.view [[FRAME]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         memref.dealloc [[FRAME]]
func.func @as_large_as_the_argument(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    %m = memref.dim %x, %c0 : memref<?xf32>
    %a = memref.alloc(%m) : memref<?xf32>
    linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  }
  return
}

// -----

// Each iteration has another size.
// CHECK:       decision: parallel loop: in sequence: size-defined-below, 0 bytes (scf.forall at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @grows(
// CHECK:         scf.forall
func.func @grows(%x: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %v = memref.subview %x[0] [%i] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    %a = memref.alloc(%i) : memref<?xf32>
    linalg.exp ins(%v : memref<?xf32, strided<[1]>>) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  }
  return
}

// -----

// Of three workers one would have nothing to do: there are two.
// CHECK:       decision: parallel loop: in parallel: frame-for-each-worker, 131072 bytes
// CHECK-LABEL: func.func @as_many_as_are_busy(
// CHECK:         memref.alloc() {{.*}} : memref<262144xi8>
// CHECK:         scf.parallel ({{.*}}) = (%c0) to (%c2) step (%c1)
func.func @as_many_as_are_busy(%y: memref<4x32768xf32>) {
  scf.forall (%i) in (4) {
    %q = memref.subview %y[%i, 0] [1, 32768] [1, 1] : memref<4x32768xf32> to memref<32768xf32, strided<[1], offset: ?>>
    %b = memref.alloc() : memref<32768xf32>
    linalg.exp ins(%q : memref<32768xf32, strided<[1], offset: ?>>) outs(%b : memref<32768xf32>)
    linalg.exp ins(%b : memref<32768xf32>) outs(%q : memref<32768xf32, strided<[1], offset: ?>>)
    memref.dealloc %b : memref<32768xf32>
  }
  return
}

// -----

// Loops of functions that call themselves are not shared.
// CHECK-LABEL: func.func @calls_itself(
// CHECK:         scf.forall
func.func @calls_itself(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.cmpi eq, %n, %c0 : index
  scf.if %none {
    scf.forall (%i) in (64) {
      %b = memref.alloc() : memref<8192xf32>
      linalg.exp ins(%b : memref<8192xf32>) outs(%b : memref<8192xf32>)
      memref.dealloc %b : memref<8192xf32>
    }
  } else {
    %m = arith.subi %n, %c1 : index
    func.call @calls_itself(%m) : (index) -> ()
  }
  return
}
