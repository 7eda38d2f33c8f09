// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// Two blocks of which one is run: the memory comes from the block in front of both, and is freed where they meet.
// CHECK-LABEL: @exclusive
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    cf.cond_br
// CHECK:         memref.copy %{{.*}}, %[[A]]
// CHECK-NOT:     memref.dealloc
// CHECK:         memref.copy %{{.*}}, %[[A]]
// CHECK:         cf.br ^[[JOIN:.*]]
// CHECK:       ^[[JOIN]]:
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK-NEXT:    return
func.func @exclusive(%p: i1, %x: memref<8xf32>, %out: memref<8xf32>) {
  cf.cond_br %p, ^then, ^else
^then:
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  cf.br ^join
^else:
  %b = memref.alloc() : memref<8xf32>
  memref.copy %out, %b : memref<8xf32> to memref<8xf32>
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  cf.br ^join
^join:
  return
}

// -----

// One block after the other, one of them passed by.
// CHECK-LABEL: @one_after_the_other
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         memref.dealloc %[[A]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @one_after_the_other(%p: i1, %x: memref<8xf32>, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  cf.cond_br %p, ^then, ^join
^then:
  %b = memref.alloc() : memref<8xf32>
  memref.copy %out, %b : memref<8xf32> to memref<8xf32>
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  cf.br ^join
^join:
  %c = memref.alloc() : memref<8xf32>
  memref.copy %x, %c : memref<8xf32> to memref<8xf32>
  memref.copy %c, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %c : memref<8xf32>
  return
}

// -----

// Nothing is freed yet: two of three ways, and the block behind.
// CHECK-LABEL: @switched
// CHECK:         memref.alloc() {{.*}}: memref<64xi8>
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @switched(%s: i32, %v: f32, %w: f64, %out: memref<4xf64>) {
  cf.switch %s : i32, [default: ^join, 1: ^one, 2: ^two]
^one:
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<16xf32>)
  cf.br ^join
^two:
  %b = memref.alloc() : memref<4xf64>
  linalg.fill ins(%w : f64) outs(%b : memref<4xf64>)
  memref.copy %b, %out : memref<4xf64> to memref<4xf64>
  cf.br ^join
^join:
  %c = memref.alloc() : memref<4xf64>
  linalg.fill ins(%w : f64) outs(%c : memref<4xf64>)
  memref.copy %c, %out : memref<4xf64> to memref<4xf64>
  return
}

// -----

// A buffer is held while the other one is made: two of them.
// CHECK-LABEL: @held_across
// CHECK-COUNT-2: memref.alloc
func.func @held_across(%p: i1, %v: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)
  cf.cond_br %p, ^then, ^join
^then:
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  cf.br ^join
^join:
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// Around a loop of blocks there is no one place for what is freed in it.
// CHECK-LABEL: @around
// CHECK-COUNT-2: memref.alloc
func.func @around(%p: i1, %v: f32, %out: memref<8xf32>) {
  cf.br ^head
^head:
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  cf.cond_br %p, ^body, ^end
^body:
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  cf.br ^head
^end:
  return
}
