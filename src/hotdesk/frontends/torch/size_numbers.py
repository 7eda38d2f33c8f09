"""Numbers that follow from sizes in ways that torch-mlir does not read: computed in front of what uses them.

    %n = sym_size(%x, 0)    %r = mod(%n, 4)    %s = _sym_sqrt(%n)
->  %r = arith.remsi %n, 4          %s = math.sqrt (arith.sitofp %n)

Such a number is one of PyTorch's expressions over sizes; `size_values` makes it. And torch-mlir divides some sizes as if they had
no sign, where a check in front says that none is below 0: those quotients are rounded down here, as every other one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload

from hotdesk._bindings import ir
from hotdesk.frontends.torch.cutting import CutSite
from hotdesk.frontends.torch.symbolic_numbers import expression_at
from hotdesk.ir.building import create, replace
from hotdesk.ir.walking import main_function, top_level_ops

_operator: Any = operator  # annotated in part only
_READ: frozenset[Any] = frozenset(
    {_operator.add, _operator.sub, _operator.mul, _operator.floordiv, _operator.neg, _operator.getitem}
)
"""What torch-mlir reads, on integers."""


def is_size_number(node: torch.fx.Node) -> bool:
    """Whether a node is such a number."""
    value: Any = node.meta.get("val")
    if node.op != "call_function" or isinstance(node.target, OpOverload):
        return False
    if isinstance(value, torch.SymFloat):
        return True
    return isinstance(value, torch.SymInt) and (node.target not in _READ or any(map(_is_float, node.args)))


def _is_float(argument: Any) -> bool:
    value = argument.meta.get("val") if isinstance(argument, torch.fx.Node) else argument
    return isinstance(value, float | torch.SymFloat)


@dataclass(frozen=True, slots=True)
class SizeNumber:
    """What is put in for such a node: its expression."""

    expression: Any
    inputs: tuple[torch.fx.Node, ...] = ()

    @classmethod
    def of(cls, node: torch.fx.Node) -> SizeNumber:
        """Reads the expression of a node."""
        return cls(expression_at(node))

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        ((number, (kind, _)),) = site.results.items()
        return {number: site.sizes.number(self.expression, kind)}


def sizes_with_signs(module: ir.Module) -> None:
    """Rounds quotients of sizes down, whatever their sign is."""
    for op in top_level_ops(main_function(module)):
        if op.name == "arith.divui" and isinstance(op.results[0].type, ir.IndexType):
            replace(op, create("arith.floordivsi", list(op.operands), [op.results[0].type], before=op))
