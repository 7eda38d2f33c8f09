"""Finds the function by which a body reduces: `yield f(out, x)`, where `out` is used for nothing else and `x` needs no output."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.interpreter import FunctionReader
from hotdesk.checker.values import Array, xp
from hotdesk.graphs import reached
from hotdesk.ir.walking import defining_op, made_by, users

_FOLDS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "arith.addf": (operator.add, np.add),
    "arith.addi": (operator.add, np.add),
    "arith.mulf": (operator.mul, np.multiply),
    "arith.muli": (operator.mul, np.multiply),
    "arith.maximumf": (np.maximum, np.maximum),
    "arith.minimumf": (np.minimum, np.minimum),
    "arith.maxnumf": (np.fmax, np.fmax),
    "arith.minnumf": (np.fmin, np.fmin),
    "arith.maxsi": (np.maximum, np.maximum),
    "arith.minsi": (np.minimum, np.minimum),
    "arith.andi": (xp.bitwise_and, np.bitwise_and),
    "arith.ori": (xp.bitwise_or, np.bitwise_or),
    "arith.xori": (xp.bitwise_xor, np.bitwise_xor),
}
_ON_TRUTH = {"arith.andi", "arith.ori", "arith.xori"}
_WIDENING = {"arith.extf", "arith.extsi"}


@dataclass(frozen=True, slots=True)
class Fold:
    """`operand` is the slot of what is folded; `product`, if that is a product of two arguments of the body, says which."""

    operand: int
    combined: Callable[[Any, Any], Any]
    reduction: Any
    product: tuple[int, int] | None

    def reduced(self, values: Array, loops: tuple[int, ...]) -> Array:
        """Folds along some dimensions, which stay with one element each."""
        return self.reduction.reduce(values, axis=loops, dtype=values.dtype, keepdims=True)


def find_fold(function: FunctionReader, body: ir.Block, inputs: int, output: int, value: ir.Value) -> Fold | None:
    """The fold into output number `output`, behind `inputs` arguments of the body; None if there is none that is known."""
    argument, op = body.arguments[inputs + output], defining_op(value)
    if op is None or op.name not in _FOLDS or len(list(argument.uses)) != 1 or users(argument) != [op]:
        return None
    if str(value.type) == "i1" and op.name not in _ON_TRUTH:
        return None
    if not any(op.operands[i] == argument for i in (0, 1)) or len(list(value.uses)) != 1:
        return None
    other = op.operands[1] if op.operands[0] == argument else op.operands[0]
    if _needs(other, list(body.arguments)[inputs:], body):
        return None
    combined, reduction = _FOLDS[op.name]
    product = _product(body, other) if op.name in ("arith.addf", "arith.addi") else None
    return Fold(function.slot(other), combined, reduction, product)


def _needs(value: ir.Value, arguments: Sequence[ir.Value], body: ir.Block) -> bool:
    """Whether a value is computed from one of some arguments of the body."""

    def operands(each: ir.Value) -> Sequence[ir.Value]:
        op = defining_op(each)
        return list(op.operands) if op is not None and op.block == body else ()

    return not reached([value], operands).keys().isdisjoint(arguments)


def _product(body: ir.Block, value: ir.Value) -> tuple[int, int] | None:
    op = made_by(value, "arith.mulf", "arith.muli")
    if op is None:
        return None
    arguments: list[ir.Value] = list(body.arguments)
    factors: list[int] = []
    for factor in op.operands:
        inner = made_by(factor, *_WIDENING)
        source = factor if inner is None or str(inner.operands[0].type) == "i1" else inner.operands[0]
        if source not in arguments:
            return None
        factors.append(arguments.index(source))
    return factors[0], factors[1]
