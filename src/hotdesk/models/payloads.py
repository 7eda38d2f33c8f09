"""Tensors computed element by element: as the payload of a structured op, or in loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hotdesk._bindings import ir
from hotdesk.ir.building import create, dim, index_constant, loop, structured
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.ir.walking import nested_ops

LOADS = ("tensor.extract", "memref.load")
"""Ops that read one element."""

Element = Callable[[list[ir.Value], ir.Operation], ir.Value]
"""Makes, in front of an op, the element at a position."""


def computed(kind: ir.Type, sizes: Sequence[ir.Value], element: Element, before: ir.Operation) -> ir.Value:
    """A tensor of a type and dynamic sizes, each of whose elements a payload computes."""
    empty = create("tensor.empty", sizes, [kind], before=before).results[0]
    op, end = structured([], [empty], before)
    index = ir.IndexType.get()
    i64 = ir.IntegerType.get_signless(64)
    positions: list[ir.Value] = [
        create("linalg.index", [], [index], {"dim": ir.IntegerAttr.get(i64, i)}, before=end).results[0]
        for i in range(len(shape_of(kind)))
    ]
    end.operands[0] = element(positions, end)
    return op.results[0]


def computed_in_loops(kind: ir.Type, sizes: Sequence[ir.Value], element: Element, before: ir.Operation) -> ir.Value:
    """The same in loops, for elements whose computation makes tensors."""
    empty = create("tensor.empty", sizes, [kind], before=before).results[0]

    def insert(positions: list[ir.Value], into: ir.Value, end: ir.Operation) -> ir.Value:
        return create("tensor.insert", [element(positions, end), into, *positions], [kind], before=end).results[0]

    extents = [dim(empty, i, before) for i in range(len(shape_of(kind)))]
    return loops(extents, empty, insert, before)


def loops(
    extents: Sequence[ir.Value],
    start: ir.Value,
    step: Callable[[list[ir.Value], ir.Value, ir.Operation], ir.Value],
    before: ir.Operation,
) -> ir.Value:
    """Nested loops over a box that pass a tensor on: `step` makes the next one from a position and the one before."""
    return _nest(list(extents), [], start, step, before)


def _nest(
    extents: list[ir.Value],
    positions: list[ir.Value],
    start: ir.Value,
    step: Callable[[list[ir.Value], ir.Value, ir.Operation], ir.Value],
    before: ir.Operation,
) -> ir.Value:
    if not extents:
        return step(positions, start, before)
    bounds = [index_constant(0, before), extents[0], index_constant(1, before)]
    made, position, (carried,), end = loop(bounds, [start], before)
    end.operands[0] = _nest(extents[1:], [*positions, position], carried, step, end)
    return made.results[0]


def inlined(block: ir.Block, arguments: Sequence[ir.Value], before: ir.Operation) -> list[ir.Value]:
    """Moves the ops of a block in front of an op, arguments given; what its terminator, which stays, yields."""
    for old, new in zip(block.arguments, arguments, strict=True):
        old.replace_all_uses_with(new)
    *ops, end = [op.operation for op in block.operations]
    for op in ops:
        op.move_before(before)
    return list(end.operands)


def makes_tensors(op: ir.Operation) -> bool:
    """Whether an op in the regions of `op` has a tensor for a result."""
    return any(is_tensor(result.type) for inner in nested_ops(op) for result in inner.results)
