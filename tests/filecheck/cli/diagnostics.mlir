// RUN: not %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize 2>&1 | FileCheck %s

// Each part is a module of its own: one that fails does not stop the others, and every message says where.

// CHECK:      diagnostics.mlir:[[#@LINE+2]]:23: error: use of undeclared SSA value name
func.func @undeclared() -> tensor<4xf32> {
  return %r : tensor<4xf32>
}
