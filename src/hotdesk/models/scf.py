"""Structured control flow: how values pass through loops and branches, and the same ops on buffers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import constant_of
from hotdesk.models.facts import RESULTS, Facts, Flow, no_facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.rewrites import bufferize_region_op, bufferize_terminator

FOR = "scf.for"
"""A loop over a range of numbers, which passes on what its region yields."""
WHILE = "scf.while"
_LOOP = frozenset({(0, 0)})
_INDEX_BITS = 32


def has_first_iteration(op: ir.Operation) -> bool:
    """Whether the op is an `scf.for` whose body certainly runs.

    It compares its bounds before it steps, so they alone tell: constants of which the lower one is less, as signed numbers, or as
    unsigned ones with `unsignedCmp`. An `index` has 32 bits or more: bounds are compared if each of these widths holds them.
    """
    if op.name != FOR:
        return False
    low, high = (constant_of(bound) for bound in list(op.operands)[:2])
    if not isinstance(low, int) or not isinstance(high, int):
        return False
    kind = op.operands[0].type
    bits = kind.width if isinstance(kind, ir.IntegerType) else _INDEX_BITS
    if not all(-(1 << bits - 1) <= bound < 1 << bits - 1 for bound in (low, high)):
        return False
    if "unsignedCmp" in op.attributes:
        low, high = low % (1 << bits), high % (1 << bits)
    return low < high


def _for_flow(op: ir.Operation) -> Flow:
    return _for_passing(len(op.results), has_first_iteration(op))


@cache
def _for_passing(count: int, runs: bool) -> Flow:
    """Operands: bounds and step, then what the first iteration gets; the block has the induction variable first."""
    return Flow(
        entries=tuple((3 + i, 0, 1 + i) for i in range(count)),
        exits=(*((0, i, 0, 1 + i) for i in range(count)), *((0, i, RESULTS, i) for i in range(count))),
        skips=() if runs else tuple((3 + i, i) for i in range(count)),
        runs=runs,
        follows=_LOOP,
    )


def _while_flow(op: ir.Operation) -> Flow:
    return _while_passing(len(op.operands), len(op.results))


@cache
def _while_passing(count: int, passed: int) -> Flow:
    """`scf.condition`, whose first operand is the condition, passes on to the second region and to the results."""
    return Flow(
        entries=tuple((i, 0, i) for i in range(count)),
        exits=(
            *((0, 1 + i, 1, i) for i in range(passed)),
            *((0, 1 + i, RESULTS, i) for i in range(passed)),
            *((1, i, 0, i) for i in range(count)),
        ),
        follows=frozenset({(0, 1), (1, 0)}),
    )


def _branch_flow(op: ir.Operation) -> Flow:
    return _branch_passing(tuple([len(region.blocks) > 0 for region in op.regions]), len(op.results))


def _once_flow(op: ir.Operation) -> Flow:
    return _branch_passing((True,), len(op.results), runs=True)


@cache
def _branch_passing(filled: tuple[bool, ...], count: int, *, runs: bool = False) -> Flow:
    """One of the regions that have blocks runs, and yields the results."""
    regions = [number for number, has_blocks in enumerate(filled) if has_blocks]
    return Flow(exits=tuple((region, i, RESULTS, i) for region in regions for i in range(count)), runs=runs)


def _bufferize(op: ir.Operation, buffers: Buffers) -> None:
    flow = MODELS[op.name].flow
    assert flow is not None
    bufferize_region_op(op, flow(op), buffers)


def _model(flow: Callable[[ir.Operation], Flow]) -> OpModel:
    return OpModel(no_facts, _bufferize, flow)


MODELS = {
    FOR: _model(_for_flow),
    WHILE: _model(_while_flow),
    "scf.if": _model(_branch_flow),
    "scf.index_switch": _model(_branch_flow),
    "scf.execute_region": _model(_once_flow),
    "scf.yield": OpModel(no_facts, bufferize_terminator, takes_scalars=True),
    "scf.condition": OpModel(no_facts, bufferize_terminator, takes_scalars=True),
}
LOOPS_AND_BRANCHES = tuple(name for name, model in MODELS.items() if model.flow is not None)
TERMINATORS = tuple(name for name, model in MODELS.items() if model.flow is None)
"""Those of the regions of loops and branches."""


def _select_facts(op: ir.Operation) -> Facts:
    return Facts(choices=((1, 0), (2, 0))) if is_tensor(op.results[0].type) else Facts()


def _bufferize_select(op: ir.Operation, buffers: Buffers) -> None:
    """The choice of one of two buffers, both in one type; none if both are the same."""
    if not is_tensor(op.results[0].type):
        return
    kind = buffers.passed_type(op.results[0])
    passed = [buffers.leaving(op, operand) for operand in (1, 2)]
    if passed[0] == passed[1]:
        buffers.assign(op.results[0], buffers.seen_as(passed[0], kind, op))
        return
    chosen = [buffers.seen_as(memref, kind, op) for memref in passed]
    new = create("arith.select", [op.operands[0], *chosen], [kind], before=op)
    buffers.assign(op.results[0], new.results[0])


SELECT = OpModel(_select_facts, _bufferize_select)
