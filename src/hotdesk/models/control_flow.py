"""How control and values pass through the regions of an op, and from its end to blocks, as models say it."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer
from hotdesk.models import cf
from hotdesk.models.facts import RESULTS, Flow
from hotdesk.models.registry import model_of

PARALLEL = frozenset({"scf.forall", "scf.parallel", "affine.parallel", "gpu.launch"})
"""Ops whose regions may run several times at one time."""
LOOPS = PARALLEL | {"scf.for", "scf.while", "affine.for"}
"""Ops whose regions may run more than once."""
_OF_SCF = ("scf.forall", "scf.parallel")
_REDUCING = ("scf.parallel", "scf.reduce")
_SCOPE = "memref.alloca_scope"


def flow_of(op: ir.Operation) -> Flow | None:
    """The way of memrefs through the regions of an op, or None if that is not known: those that are reduced are not followed."""
    if op.name in _REDUCING and any(is_buffer(value.type) for value in (*op.operands, *op.results)):
        return None
    model = model_of(op.name)
    if model is not None and model.flow is not None:
        return model.flow(op)
    if op.name in _OF_SCF:
        return Flow(follows=frozenset({(0, 0)}))
    if op.name == _SCOPE:
        return Flow(exits=tuple((0, i, RESULTS, i) for i in range(len(op.results))), runs=True)
    return None


def branched(op: ir.Operation) -> tuple[tuple[int, int, int], ...] | None:
    """What a terminator passes to other blocks: (operand, successor, argument there); None if that is not known."""
    model = model_of(op.name)
    if model is None or model.branches is None:
        model = cf.MODELS.get(op.name)
    return None if model is None or model.branches is None else model.branches(op)
