// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --pass-pipeline='builtin.module(hotdesk-buffer-deallocation{private-function-dynamic-ownership=true})' | FileCheck %s --check-prefix=LENT

// A result belongs to the caller: an argument, or a global, is copied; an allocation is transferred.
// CHECK-LABEL: func.func @returns(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: memref<2xf32>)
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[C:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[X]], [[C]]
// CHECK:         [[D:%.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy [[A]], [[D]]
// CHECK-NEXT:    return [[A]], [[C]], [[D]]
func.func @returns(%x: memref<2xf32>) -> (memref<2xf32>, memref<2xf32>, memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  return %a, %x, %a : memref<2xf32>, memref<2xf32>, memref<2xf32>
}

// -----

// What a call returns is freed by the caller; what it is called with stays the caller's too.
// CHECK-LABEL: func.func @calls(
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[R:%.*]] = call @outside([[A]])
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.copy [[R]]
// CHECK-NEXT:    memref.dealloc [[R]]
// CHECK-NEXT:    return
func.func private @outside(memref<2xf32>) -> memref<2xf32>
func.func @calls(%x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %r = func.call @outside(%a) : (memref<2xf32>) -> memref<2xf32>
  memref.copy %r, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// A private function may say by a flag whether its result is the caller's to free.
// CHECK-LABEL: func.func private @pick(
// CHECK-SAME:    -> memref<2xf32>
// CHECK:         memref.copy
// LENT-LABEL:  func.func private @pick(
// LENT-SAME:     [[P:%[a-z0-9]+]]: i1, [[X:%[a-z0-9]+]]: memref<2xf32>) -> (memref<2xf32>, i1)
// LENT:          [[A:%.*]] = memref.alloc()
// LENT:          [[R:%.*]]:2 = scf.if [[P]]
// LENT:            scf.yield [[A]], %true
// LENT:            memref.dealloc [[A]]
// LENT:            scf.yield [[X]], %false
// LENT-NOT:      memref.copy
// LENT:          return [[R]]#0, [[R]]#1
// LENT-LABEL:  func.func @main(
// LENT:          [[B:%.*]] = memref.alloc()
// LENT:          [[C:%.*]]:2 = call @pick(%{{.*}}, [[B]])
// LENT-NEXT:     memref.copy [[C]]#0
// LENT-NEXT:     memref.dealloc [[B]]
// LENT-NEXT:     scf.if [[C]]#1 {
// LENT-NEXT:       memref.dealloc [[C]]#0
func.func private @pick(%p: i1, %x: memref<2xf32>) -> memref<2xf32> {
  %a = memref.alloc() : memref<2xf32>
  %r = scf.if %p -> memref<2xf32> {
    scf.yield %a : memref<2xf32>
  } else {
    scf.yield %x : memref<2xf32>
  }
  return %r : memref<2xf32>
}
func.func @main(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %b = memref.alloc() : memref<2xf32>
  memref.copy %x, %b : memref<2xf32> to memref<2xf32>
  %0 = func.call @pick(%p, %b) : (i1, memref<2xf32>) -> memref<2xf32>
  memref.copy %0, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// A reallocation is new memory and a copy, or the old memory; either way the result owns it.
// CHECK-LABEL: func.func @realloc(
// CHECK-SAME:    [[N:%[a-z0-9]+]]: index,
// CHECK:         [[A:%.*]] = memref.alloc()
// CHECK:         [[GROWS:%.*]] = arith.cmpi sgt, [[N]],
// CHECK-NEXT:    [[R:%.*]] = scf.if [[GROWS]] -> (memref<?xf32>) {
// CHECK-NEXT:      [[B:%.*]] = memref.alloc([[N]]) {alignment = 32 : i64}
// CHECK-NEXT:      [[V:%.*]] = memref.subview [[B]][0]
// CHECK-NEXT:      memref.copy [[A]], [[V]]
// CHECK-NEXT:      memref.dealloc [[A]]
// CHECK-NEXT:      scf.yield [[B]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[S:%.*]] = memref.reinterpret_cast [[A]]
// CHECK-NEXT:      scf.yield [[S]]
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.dealloc [[R]]
func.func @realloc(%n: index, %x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %zero = arith.constant 0.0 : f32
  %r = memref.realloc %a(%n) {alignment = 32 : i64} : memref<4xf32> to memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<?xf32>)
  return
}

// -----

// What is no function of `func` is left alone.
// CHECK-LABEL: gpu.func @kernel(
// CHECK-NOT:     dealloc
// CHECK:         gpu.return
// LENT-LABEL:  gpu.func @kernel(
// LENT-NOT:      dealloc
// LENT:          gpu.return
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @kernel(%x: memref<4xf32>) kernel {
      %a = memref.alloc() : memref<4xf32>
      memref.copy %x, %a : memref<4xf32> to memref<4xf32>
      gpu.return
    }
  }
}
