"""Which loop of a structured op is cut into ranges for threads, and whether its work is worth them.

A loop can be cut if no two of its iterations touch the same element that is written: it is parallel, every memref that is written
has it as a dim of its own, and a memref that is read as well is read where it is written. Of these the outermost that has enough
iterations is taken, so that threads work on memory that is far apart. The loop that steps through the result by one element is
vectorised. It stays whole where others that are one (`joined`) have enough iterations together; and where another loop has a few,
unless it is so long that its ranges are long rows too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.analysis.memrefs.shared_loops import GRAIN
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import nested_ops, parallel_loops
from hotdesk.kernels.text import Index, KernelBuilder, View
from hotdesk.models.generics import DEAR, GENERIC, is_dear
from hotdesk.models.linalg import inputs_of
from hotdesk.passes.lower.structured.joined import Joined
from hotdesk.passes.payload_checks import can_check_apart, has_checks

_ENOUGH = 16  # iterations of a loop that is taken for its place
_FEW = 4  # iterations of a loop that is taken so that rows stay whole
_LONG = 4096  # elements of a row that may be cut in ranges


@dataclass(frozen=True, slots=True)
class Cut:
    """A loop to be cut, or several that are one.

    Attributes:
        loops: their numbers.
        dims: the dim of each memref that the last of them runs through, of those that have one.
        lengths: for each loop of the op, a memref and the dim of it that is as long; those of the cut ones first.
        weight: operations of an iteration.
    """

    loops: tuple[int, ...]
    dims: Mapping[ir.Value, int]
    lengths: tuple[tuple[ir.Value, int], ...]
    weight: int


def find_cut(
    op: ir.Operation,
    views: Mapping[ir.Value, View],
    bases: Mapping[ir.Value, ir.Value],
    indexed: AbstractSet[ir.Value],
    joined: Joined | None = None,
) -> Cut | None:
    """What is worth cutting of the loops of an op on memrefs; None where none can be, or all sizes are known and small.

    None can be if an operand is `indexed` as well: read at indices of its own, which may lie in another thread's range. `joined`
    are its loops as they are without a cut, if some of them are one.
    """
    if op.name != GENERIC or (has_checks(op) and not can_check_apart(op)):
        return None
    operands, maps = list(op.operands), cast("list[ir.AffineMap]", indexing_maps(op))
    kinds = parallel_loops(op)
    dims = [_dims(operands, maps, loop) for loop in range(len(kinds))]
    written = operands[inputs_of(op) :]
    lengths = [_length(operands, maps, loop) for loop in range(len(kinds))]
    found: list[int] = []
    for loop, (parallel, own) in enumerate(zip(kinds, dims, strict=True)):
        if parallel and own is not None and all(value in own for value in written):
            found.append(loop)
    if not found or not written or None in lengths or not indexed.isdisjoint(operands):
        return None
    if not _apart(operands, maps, written, bases):
        return None
    known = [views[value].sizes[dim] for value, dim in cast("list[tuple[ir.Value, int]]", lengths)]
    loop = next((i for i in found if known[i] is None or cast(int, known[i]) >= _ENOUGH), None)
    loop = max(found, key=lambda i: cast(int, known[i])) if loop is None else loop
    weight = _weight(op)
    if None not in known and (prod(cast("list[int]", known)) * weight < 2 * GRAIN or known[loop] == 1):
        return None
    loops = (loop,)
    if any(_is_by_one(views[value], (dims[loop] or {})[value]) for value in written):
        groups = () if joined is None else joined.loops
        others = [group for group in groups if len(group) > 1 and loop not in group and {*group} <= {*found}]
        others = [group for group in others if _enough((known[i] for i in group), _ENOUGH)]
        if not _enough([known[loop]], _LONG):
            others += [(i,) for i in found if i != loop and _enough([known[i]], _FEW)]
        loops = next(iter(others), loops)
    order = [*loops, *(i for i in range(len(kinds)) if i not in loops)]
    return Cut(loops, dims[loops[-1]] or {}, tuple(cast(Any, lengths[i]) for i in order), weight)


def _enough(sizes: Iterable[int | None], least: int) -> bool:
    """Whether loops have so many iterations together, or may have."""
    known = list(sizes)
    return None in known or prod(cast("list[int]", known)) >= least


def _is_by_one(view: View, dim: int) -> bool:
    """Whether a loop over a dim of a memref steps through it by one element."""
    return view.strides[dim] == 1 and view.sizes[dim] != 1


def _dims(operands: Sequence[ir.Value], maps: Sequence[ir.AffineMap], loop: int) -> dict[ir.Value, int] | None:
    """The dim of each memref that a loop alone runs through; None where it is part of an expression, or of several dims."""
    found: dict[ir.Value, int | None] = {}
    for value, map_ in zip(operands, maps, strict=True):
        places = [i for i, each in enumerate(map_.results) if _has(each, loop)]
        if len(places) > 1 or not all(isinstance(map_.results[i], ir.AffineDimExpr) for i in places):
            return None
        place = places[0] if places else None
        if found.setdefault(value, place) != place:
            return None
    return {value: place for value, place in found.items() if place is not None}


def _has(expression: ir.AffineExpr, loop: int) -> bool:
    if isinstance(expression, ir.AffineDimExpr):
        return expression.position == loop
    if isinstance(expression, ir.AffineBinaryExpr):
        return _has(expression.lhs, loop) or _has(expression.rhs, loop)
    return False


def _length(operands: Sequence[ir.Value], maps: Sequence[ir.AffineMap], loop: int) -> tuple[ir.Value, int] | None:
    """A memref and a dim of it that a loop alone runs through: one whose size is a number, if there is one."""
    found = [
        (value, i)
        for value, map_ in zip(operands, maps, strict=True)
        for i, each in enumerate(map_.results)
        if isinstance(each, ir.AffineDimExpr) and each.position == loop and is_memref(value.type)
    ]
    known = [(value, i) for value, i in found if not cast(Any, value.type).is_dynamic_dim(i)]
    return next(iter(known or found), None)


def _apart(
    operands: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    written: Sequence[ir.Value],
    bases: Mapping[ir.Value, ir.Value],
) -> bool:
    """Whether what is written shares memory with nothing but itself, read and written at one place in each iteration."""
    for target in written:
        at = {str(map_) for value, map_ in zip(operands, maps, strict=True) if value == target}
        others = [value for value in bases if value != target and bases[value] == bases[target]]
        if len(at) > 1 or others:
            return False
    return True


def _weight(op: ir.Operation) -> int:
    nested = nested_ops(op)
    return len(nested) + (DEAR - 1) * sum(map(is_dear, nested)) + 2 * len(op.operands)


class _Head(KernelBuilder):
    """The function that has all ranges done; `types` are those of the scalars behind its memrefs and their sizes."""

    def __init__(self, views: Sequence[View], types: Sequence[str]) -> None:
        super().__init__(views, [False] * len(views))
        self._arguments += [f"%s{i}: {kind}" for i, kind in enumerate(types)]


def head_text(cut: Cut, memrefs: Sequence[ir.Value], views: Sequence[View], types: Sequence[str]) -> str:
    """The kernel that shares out the ranges, as text with its declarations; `types` as above."""
    k = _Head(views, types)
    sizes: list[Index] = [k.operands[memrefs.index(value)].sizes[dim] for value, dim in cut.lengths]
    tasks = reduce(k.mul, sizes[: len(cut.loops)])
    work = reduce(k.mul, sizes, cast(Index, cut.weight))
    k.share(tasks, k.floordiv(work, GRAIN), 1)
    head = k.finish()
    return "\n".join([*head.declarations, head.text])
