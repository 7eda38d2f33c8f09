"""How control and values pass through the regions of an op, and from its end to blocks, as models say it.

Of selections and of branches to several blocks, a condition, the first operand, says which of the other operands count: each of
these is on a *way*.
"""

from __future__ import annotations

from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer
from hotdesk.models import cf
from hotdesk.models.facts import RESULTS, Flow
from hotdesk.models.new_memory import SCOPE
from hotdesk.models.registry import model_of
from hotdesk.models.scf import FOR, LOOPS_AND_BRANCHES, TERMINATORS, WHILE

SHAREABLE = ("scf.forall", "scf.parallel")
"""Parallel loops that threads may share."""
PARALLEL = frozenset({*SHAREABLE, "affine.parallel", "gpu.launch"})
"""Ops whose regions may run several times at one time."""
LOOPS = PARALLEL | {FOR, WHILE, "affine.for"}
"""Ops whose regions may run more than once."""
PASSING = (*LOOPS_AND_BRANCHES, "shape.assuming")
"""Ops whose results are, one for one, what a region passes to them at its end, after other regions or itself."""
BRANCHES = tuple(name for name in PASSING if name not in LOOPS)
"""Those of which at most one region runs, and once."""
ENDS = (*TERMINATORS, "shape.assuming_yield")
"""What ends their regions."""
STACK_SCOPES = (LOOPS | {SCOPE}) - {WHILE, "gpu.launch"}
"""Ops that give back, at the end of each run of their region, what was allocated on the stack in it; functions do so, too."""
CHOICE = "arith.select"
"""Chooses one of two values."""
CHOOSING = (CHOICE, "cf.cond_br", "cf.switch")
"""Ops of which a condition says which operands count."""
INDEX_BITS = 64
_TAKING_SCALARS = ("func.return", "affine.yield", "linalg.yield", "scf.reduce", "scf.reduce.return")
_REDUCING = ("scf.parallel", "scf.reduce")


def flow_of(op: ir.Operation) -> Flow | None:
    """The way of memrefs through the regions of an op, or None if that is not known: those that are reduced are not followed."""
    if op.name in _REDUCING and any(is_buffer(value.type) for value in (*op.operands, *op.results)):
        return None
    model = model_of(op.name)
    if model is not None and model.flow is not None:
        return model.flow(op)
    if op.name in SHAREABLE:
        return Flow(follows=frozenset({(0, 0)}))
    if op.name == SCOPE:
        return Flow(exits=tuple((0, i, RESULTS, i) for i in range(len(op.results))), runs=True)
    return None


def branched(op: ir.Operation) -> tuple[tuple[int, int, int], ...] | None:
    """What a terminator passes to other blocks: (operand, successor, argument there); None if that is not known."""
    model = model_of(op.name)
    if model is None or model.branches is None:
        model = cf.MODELS.get(op.name)
    return None if model is None or model.branches is None else model.branches(op)


def has_ways(op: ir.Operation) -> bool:
    """Whether something can be done on one way alone that an op may take: a wider flag than an index is not compared."""
    if op.name != "cf.switch":
        return op.name in CHOOSING
    return cast(ir.IntegerType, op.operands[0].type).width <= INDEX_BITS


def way_of(op: ir.Operation, operand: int) -> int:
    """The number of the way on which an operand of an op that chooses counts.

    0 if the condition is true and 1 if it is false; of a switch 0 is the default, and the cases follow.
    """
    if op.name == CHOICE:
        return operand - 1
    ways = {passed: successor for passed, successor, _ in branched(op) or ()}
    return ways[operand]


def takes_scalars(name: str) -> bool:
    """Whether ops of that name use scalars as they were computed before them, and need nothing that these are computed from."""
    model = model_of(name)
    return name in _TAKING_SCALARS or (model is not None and model.takes_scalars)
