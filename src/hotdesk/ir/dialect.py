"""The `hotdesk` dialect: destination-passing ops that MLIR has no exact form for.

* `hotdesk.contract ins…, init {equation, accumulate}`: a tensor contraction named by an einsum equation, so a transposed or
  broadcast operand is a letter order and not a copy. `accumulate = false` says that `init` is overwritten without being
  read (what `linalg.matmul` on a zero fill means), so its contents are free.
* `hotdesk.conv x, w, init {strides, dilations, pad_low, pad_high, input_dilations, groups, accumulate}`: a convolution in
  `N·GC·spatial` / `GF·C·kernel` layout whose zero padding and input dilation are attributes and not padded copies. Where it says
  `winograd = false`, it is computed from all its products.
* `hotdesk.pool x, init {kind, window, strides, dilations, pad_low, pad_high, accumulate}`: `max` or `sum` over windows.
* `hotdesk.attention q, k, v, extras…, init {equation, zero_rows}`: softmax(scores) v, where the scores q k go through the region
  first. The equation has the letters of every operand and the result, as `bhmd,bhnd,bhne,mn->bhme`: those of q that k and the
  result have not are the queries, those of k that q has not the keys. The region takes a score, the element of each extra that
  belongs to it, and the place of the score, an index for each letter of q but those summed over and then each of the keys; it
  ends in a `tm_tensor.yield`. `zero_rows` says which queries give zeros where their softmax is not defined (`ZeroRows`).
* `hotdesk.foreign ins…, numbers…, inits… {callee, op, groups}`: a call of the function `callee`, which the front end brought,
  for an `op` that has no lowering. `groups` says how many there are of each kind of operand; `keeps` is there if
  the call keeps something beside its results. `operandSegmentSizes` and `resultSegmentSizes` are as IRDL wants them.
* `hotdesk.move source, target`: on memrefs alone, the elements of one in the other, which it may overlap, as C's `memmove` does;
  if so, both are slices of one row-major buffer with the same positive strides.
* `hotdesk.own init`: the same contents in memory that others may write; bufferization removes it.

On tensors each has one result, tied to `init`, or a foreign call one for each of its `inits`; on memrefs none. The dialect is
declared in IRDL, so the module verifies.
"""

from __future__ import annotations

from enum import Enum

MOST_OPERANDS, MOST_RESULTS = 64, 16
"""Of a `hotdesk.foreign`: IRDL wants each operand and each result to have a name."""

MOST_EXTRAS = 8
"""Tensors that `hotdesk.attention` may read besides queries, keys and values: IRDL wants each operand to have a name."""

FIRST_WANTED = "hotdesk.first"
"""On a `tm_tensor.sort`: how many elements of each line are wanted, the first in order; the others may be in any."""


class ZeroRows(str, Enum):
    """Which queries of an attention give zeros instead of NaN: none, those all of whose scores are -∞, or any not defined."""

    NEVER = "never"
    MASKED = "masked"
    UNDEFINED = "undefined"


_EXTRAS = [f"extra{i}" for i in range(MOST_EXTRAS)]
_ATTENTION = f"""irdl.operation @attention {{
    {" ".join(f"%{name} = irdl.any" for name in ("q", "k", "v", *_EXTRAS, "init", "result"))}
    %score = irdl.region
    irdl.operands(q: %q, k: %k, v: %v, {", ".join(f"{name}: optional %{name}" for name in _EXTRAS)}, init: %init)
    irdl.results(result: optional %result)
    irdl.regions(score: %score)
  }}"""

_OPERANDS, _RESULTS = [f"a{i}" for i in range(MOST_OPERANDS)], [f"r{i}" for i in range(MOST_RESULTS)]
_FOREIGN = f"""irdl.operation @foreign {{
    {" ".join(f"%{name} = irdl.any" for name in (*_OPERANDS, *_RESULTS))}
    irdl.operands({", ".join(f"{name}: optional %{name}" for name in _OPERANDS)})
    irdl.results({", ".join(f"{name}: optional %{name}" for name in _RESULTS)})
  }}"""

DIALECT = f"""
irdl.dialect @hotdesk {{
  irdl.operation @contract {{
    %lhs = irdl.any
    %rhs = irdl.any
    %init = irdl.any
    %result = irdl.any
    irdl.operands(lhs: %lhs, rhs: %rhs, init: %init)
    irdl.results(result: optional %result)
  }}
  {_ATTENTION}
  irdl.operation @conv {{
    %input = irdl.any
    %weight = irdl.any
    %init = irdl.any
    %workspace = irdl.any
    %result = irdl.any
    irdl.operands(input: %input, weight: %weight, init: %init, workspace: optional %workspace)
    irdl.results(result: optional %result)
  }}
  {_FOREIGN}
  irdl.operation @move {{
    %source = irdl.base "!builtin.memref"
    %target = irdl.base "!builtin.memref"
    irdl.operands(source: %source, target: %target)
  }}
  irdl.operation @own {{
    %init = irdl.any
    irdl.operands(init: %init)
    irdl.results(result: %init)
  }}
  irdl.operation @pool {{
    %input = irdl.any
    %init = irdl.any
    %result = irdl.any
    irdl.operands(input: %input, init: %init)
    irdl.results(result: optional %result)
  }}
}}
"""
