// A part that fails leaves the others alone; lines are counted from the start of the file.

// RUN: not %hotdesk-opt %s --split-input-file --cse 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: not %hotdesk-opt %s --split-input-file="// ====" --output-split-marker="// ~~~~" 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK:      func.func @first
// CHECK:      // -----
// CHECK:      // -----
// CHECK:      func.func @third
// ERR:      split-input-file.mlir:19:10: error: use of undeclared SSA value name
// ERR-NEXT: {{^}}  return %x : f32
// ERR-NEXT: {{^}}         ^
func.func @first() {
  return
}
// -----
func.func @second() -> f32 {
  return %x : f32
}
// -----
func.func @third() {
  return
}
// ====
// OTHER: error: use of undeclared SSA value name
// OTHER: // ~~~~
// OTHER: func.func @fourth
func.func @fourth() {
  return
}
