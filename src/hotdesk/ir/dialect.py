"""The `hotdesk` dialect: destination-passing ops that MLIR has no exact form for.

* `hotdesk.contract ins…, init {equation, accumulate}`: a tensor contraction named by an einsum equation, so a transposed or
  broadcast operand is a letter order and not a copy. `accumulate = false` says that `init` is overwritten without being
  read (what `linalg.matmul` on a zero fill means), so its contents are free.
* `hotdesk.conv x, w, init {strides, dilations, pad_low, pad_high, input_dilations, groups, accumulate}`: a convolution in
  `N·GC·spatial` / `GF·C·kernel` layout whose zero padding and input dilation are attributes and not padded copies.
* `hotdesk.pool x, init {kind, window, strides, dilations, pad_low, pad_high, accumulate}`: `max` or `sum` over windows.
* `hotdesk.own init`: the same contents in memory that others may write; bufferization removes it.

On tensors each has one result, tied to `init`; on memrefs none. The dialect is declared in IRDL, so the module verifies.
"""

from __future__ import annotations

DIALECT = """
irdl.dialect @hotdesk {
  irdl.operation @contract {
    %lhs = irdl.any
    %rhs = irdl.any
    %init = irdl.any
    %result = irdl.any
    irdl.operands(lhs: %lhs, rhs: %rhs, init: %init)
    irdl.results(result: optional %result)
  }
  irdl.operation @conv {
    %input = irdl.any
    %weight = irdl.any
    %init = irdl.any
    %workspace = irdl.any
    %result = irdl.any
    irdl.operands(input: %input, weight: %weight, init: %init, workspace: optional %workspace)
    irdl.results(result: optional %result)
  }
  irdl.operation @own {
    %init = irdl.any
    irdl.operands(init: %init)
    irdl.results(result: %init)
  }
  irdl.operation @pool {
    %input = irdl.any
    %init = irdl.any
    %result = irdl.any
    irdl.operands(input: %input, init: %init)
    irdl.results(result: optional %result)
  }
}
"""
