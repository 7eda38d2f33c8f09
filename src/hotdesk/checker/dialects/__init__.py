"""What the ops of each dialect do, one file a dialect: `OPS` by op name, and `TERMINATORS` for those that end a block.

Each is a function that reads an op (`interpreter.OpReader`) and returns what is to be done when it runs. Memory and control:
`memref`, `bufferization`, `vector`, `scf`, `cf`, `func`, `shape`. Numbers: `arith`, `math`, `complex`, `ub`, on what
`elementwise` holds for all of them. Structured ops: `linalg` with `structured` (`linalg.generic`), and `hotdesk`. Most of
`affine` is lowered first (`check`).
"""

from __future__ import annotations

from hotdesk.checker.dialects import (
    affine,
    arith,
    bufferization,
    cf,
    complex,
    func,
    hotdesk,
    linalg,
    math,
    memref,
    scf,
    shape,
    ub,
    vector,
)
from hotdesk.checker.interpreter import Dialects

DIALECTS = Dialects(
    ops={
        **affine.OPS,
        **arith.OPS,
        **bufferization.OPS,
        **cf.OPS,
        **complex.OPS,
        **func.OPS,
        **hotdesk.OPS,
        **linalg.OPS,
        **math.OPS,
        **memref.OPS,
        **scf.OPS,
        **shape.OPS,
        **ub.OPS,
        **vector.OPS,
    },
    terminators={
        **cf.TERMINATORS,
        **func.TERMINATORS,
        **linalg.TERMINATORS,
        **memref.TERMINATORS,
        **scf.TERMINATORS,
        **shape.TERMINATORS,
        **vector.TERMINATORS,
    },
)
