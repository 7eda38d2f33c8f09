"""Erases ops whose results nobody uses; MLIR's own clean-up does not know that `hotdesk` ops have no side effects."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.walking import all_functions, top_level_ops


def erase_dead(module: ir.Module) -> None:
    """Erases top-level ops without side effects whose results nobody uses, users first."""
    for function in all_functions(module):
        for op in reversed(top_level_ops(function)):
            unused = len(op.results) > 0 and all(next(iter(r.uses), None) is None for r in op.results)
            if unused and op.name.split(".")[0] in ("linalg", "tensor", "arith", "hotdesk", "tm_tensor", "math"):
                op.erase()
