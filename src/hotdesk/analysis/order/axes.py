"""Along which dimensions an operation can be done part by part, and which parts of its operands each part needs.

A dimension of a result can be cut if a loop runs over it, and

1. the loop is parallel: each of its iterations makes elements of its own, in every result;
2. no dimension of an operand is indexed by the loop twice, or together with anything but the taps of a window;
3. the payload does not ask for the number of the iteration.

An operand that the loop runs over is needed in the same part, along that dimension, or in what the windows of that part reach
(`analysis.order.windows`); any other one as a whole. Such loops are batches and rows of a convolution (`hotdesk.conv`), batches,
channels and rows of a pooling (`hotdesk.pool`), the letters of a contraction's result (`hotdesk.contract`), and of `tensor.pad`
and `tensor.insert_slice` the dimensions that have nothing beside. A view passes the cut on where the elements of a part stay
together; its parts may be several elements wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hotdesk._bindings import indexing_maps, ir
from hotdesk.analysis.order.windows import WindowAccess, dims_in, extents_of, linear, window_access
from hotdesk.ir.types import SLICE, is_tensor, kept_dims, shape_of
from hotdesk.ir.walking import groups_of, int_array, parallel_loops
from hotdesk.models.convolution import sliding_of
from hotdesk.models.generics import index_ops, is_linalg
from hotdesk.models.hotdesk import letters_of
from hotdesk.models.tensor import COLLAPSE, EXPAND, RESHAPES
from hotdesk.models.tensor_slices import EXTRACT_SLICE

_FREE = -1


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension, cut in parts of a multiple of `unit` elements."""

    dim: int
    unit: int


@dataclass(frozen=True, slots=True)
class Loops:
    """Which loop runs over each dimension of each operand and result, -1 for none alone; `free` are those that can be cut.

    `inits` are the operands that the results, in order, are tied to; none if there are no such. `windows` are, by operand and
    dimension, those that the loop runs over with a window.
    """

    operands: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    inits: tuple[int, ...]
    free: frozenset[int]
    windows: Mapping[tuple[int, int], WindowAccess] = field(default_factory=dict[tuple[int, int], WindowAccess])

    @property
    def is_elementwise(self) -> bool:
        """Whether each element of the one result is made by itself: every loop runs over a dimension of it, and can be cut."""
        if len(self.inits) != 1:
            return False
        row = self.results[0]
        every = {loop for operand in self.operands for loop in operand if loop >= 0}
        return every == set(row) and set(row) <= self.free and len(set(row)) == len(row)


def cut_dims(value: ir.Value) -> list[int]:
    """The dimensions that a value can be cut along at best, outermost first: a part should be one stretch of memory."""
    shape = shape_of(value.type)
    return [dim for dim, size in enumerate(shape) if size is not None and size > 1]


def read_loops(op: ir.Operation) -> Loops | None:
    """The loops of an operation in destination-passing style; None for any other."""
    if not len(op.results):
        return None
    match op.name:
        case "hotdesk.contract":
            equation = letters_of(op)
            letters = {letter: i for i, letter in enumerate(dict.fromkeys("".join(equation)))}
            terms = [tuple(letters[letter] for letter in term) for term in equation]
            twice = {loop for term in terms for loop in term if term.count(loop) > 1}
            return Loops(tuple(terms), (terms[2],), (2,), frozenset(terms[2]) - twice)
        case "hotdesk.conv":
            return _convolution(op) if len(op.operands) == 3 else None
        case "hotdesk.pool":
            return _pooling(op)
        case "tensor.pad":
            return _padding(op)
        case "tensor.insert_slice":
            return _insertion(op)
        case _:
            return _structured(op) if is_linalg(op) else None


def _convolution(op: ir.Operation) -> Loops:
    """Batches, and rows of images: columns of a row do not lie together in memory."""
    shapes = [shape_of(value.type) for value in op.operands]
    window = _window(op, shapes[0], shapes[1][2], shapes[2])
    rest = [_FREE] * (len(shapes[0]) - 3)
    row = (0, _FREE, 1, *rest)
    windows = {} if window is None else {(0, 2): window}
    return Loops((row, (_FREE,) * len(shapes[1]), row), (row,), (2,), frozenset({0, 1} if windows else {0}), windows)


def _pooling(op: ir.Operation) -> Loops:
    """Batches and channels, and rows of images."""
    shapes = [shape_of(value.type) for value in op.operands]
    window = _window(op, shapes[0], int_array(op.attributes["window"])[0], shapes[1])
    row = (0, 1, 2, *[_FREE] * (len(shapes[0]) - 3))
    windows = {} if window is None else {(0, 2): window}
    return Loops((row, row), (row,), (1,), frozenset({0, 1, 2} if windows else {0, 1}), windows)


def _window(
    op: ir.Operation, source: Sequence[int | None], taps: int | None, result: Sequence[int | None]
) -> WindowAccess | None:
    """How rows of the result of a `hotdesk` op reach into those of its operand; None if it has none or sizes are not known."""
    if len(source) != len(result) or not source[2] or not taps or not result[2]:
        return None
    sliding = sliding_of(op)
    span = (taps - 1) * sliding.dilations[0] + 1
    return WindowAccess(sliding.strides[0], span, source[2], sliding.pad_low[0], sliding.input_dilations[0])


def _padding(op: ir.Operation) -> Loops | None:
    """All dimensions, if paddings are numbers and what pads is the same everywhere."""
    source, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    low, high = int_array(op.attributes["static_low"]), int_array(op.attributes["static_high"])
    asked = any(next(iter(argument.uses), None) is not None for argument in op.regions[0].blocks[0].arguments)
    if len(op.operands) > 1 or asked or min((*low, *high), default=0) < 0:
        return None
    free = [dim for dim, size in enumerate(source) if (low[dim], high[dim]) == (0, 0) or (size and result[dim])]
    padded = {dim: size for dim, size in enumerate(source) if dim in free and size and (low[dim], high[dim]) != (0, 0)}
    rows = tuple(dim if dim in free else _FREE for dim in range(len(source)))
    windows = {(0, dim): WindowAccess(1, 1, size, low[dim]) for dim, size in padded.items()}
    return Loops((rows,), (rows,), (), frozenset(free), windows)


def _insertion(op: ir.Operation) -> Loops | None:
    """Dimensions of which all is inserted."""
    source, into = shape_of(op.operands[0].type), shape_of(op.operands[1].type)
    offsets, sizes, strides = (int_array(op.attributes[name]) for name in SLICE)
    if len(op.operands) > 2 or len(source) != len(into):
        return None
    whole = [dim for dim, size in enumerate(into) if (offsets[dim], sizes[dim], strides[dim]) == (0, size, 1)]
    inserted = tuple(dim if dim in whole else _FREE for dim in range(len(into)))
    every = tuple(range(len(into)))
    return Loops((inserted, every), (every,), (1,), frozenset(whole))


def _structured(op: ir.Operation) -> Loops | None:
    maps = indexing_maps(op)
    if maps is None or len(maps) != len(op.operands):
        return None
    count = len(op.results)
    rows = [[each.position if isinstance(each, ir.AffineDimExpr) else _FREE for each in one.results] for one in maps]
    outputs = rows[len(rows) - count :]
    shared = set(outputs[0]).intersection(*outputs) - {_FREE}
    shapes = [shape_of(value.type) if is_tensor(value.type) else () for value in op.operands]
    extents = extents_of(rows, shapes)
    tangled: set[int] = set()
    windows: dict[tuple[int, int], WindowAccess] = {}
    for number, each in enumerate(maps):
        for dim, expression in enumerate(each.results):
            if rows[number][dim] != _FREE:
                continue
            terms, used = linear(expression), dims_in(expression)
            loops = used & shared
            window: WindowAccess | None = None
            if terms is not None and len(loops) == 1 and number < len(rows) - count:
                window = window_access(terms, min(loops), extents, shapes[number][dim])
            if window is not None:
                rows[number][dim] = min(loops)
                windows[number, dim] = window
            tangled.update(used if window is None else used - loops)
        tangled.update(loop for loop in rows[number] if rows[number].count(loop) > 1)
    tangled.update(loop for _, loop in index_ops(op))
    free = shared - tangled
    if "iterator_types" in op.attributes:
        kinds = parallel_loops(op)
        free = {loop for loop in free if kinds[loop]}
    inits = tuple(range(len(rows) - count, len(rows)))
    return Loops(tuple(map(tuple, rows)), tuple(map(tuple, outputs)), inits, frozenset(free), windows)


FOLLOWED_VIEWS = frozenset({*RESHAPES, EXTRACT_SLICE})
"""Ops whose result is seen along the axes of their operand."""


def below_view(op: ir.Operation, axis: Axis) -> Axis | None:
    """The axis of a view's result if its operand is cut along an axis; None where parts would not be parts of the result."""
    source, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if op.name == EXTRACT_SLICE:
        return _below_slice(op, axis, source, result)
    for number, group in _groups(op):
        if op.name == COLLAPSE and axis.dim in group:
            inner = _row(source, group, axis.dim)
            return None if inner is None else Axis(number, axis.unit * inner)
        if op.name == EXPAND and number == axis.dim:
            return _split(result, group, axis.unit)
    return None


def above_view(op: ir.Operation, axis: Axis) -> Axis | None:
    """The axis of a view's operand if its result is cut along an axis."""
    source, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if op.name == EXTRACT_SLICE:
        for dim in range(len(source)):
            if _below_slice(op, Axis(dim, axis.unit), source, result) == axis:
                return Axis(dim, axis.unit)
        return None
    for number, group in _groups(op):
        if op.name == EXPAND and axis.dim in group:
            inner = _row(result, group, axis.dim)
            return None if inner is None else Axis(number, axis.unit * inner)
        if op.name == COLLAPSE and number == axis.dim:
            return _split(source, group, axis.unit)
    return None


def _groups(op: ir.Operation) -> list[tuple[int, tuple[int, ...]]]:
    return list(enumerate(groups_of(op)))


def _row(shape: Sequence[int | None], group: Sequence[int], dim: int) -> int | None:
    """How many elements of the merged dimension one of `dim` is; None unless those before it have size 1."""
    if any(shape[other] != 1 for other in group if other < dim):
        return None
    return _product([shape[other] for other in group if other > dim])


def _split(shape: Sequence[int | None], group: Sequence[int], unit: int) -> Axis | None:
    """The first of the merged dimensions with a size other than 1, if parts are whole elements of it."""
    dim = next((other for other in group if shape[other] != 1), group[0])
    inner = _product([shape[other] for other in group if other > dim])
    return None if inner is None or unit % inner else Axis(dim, unit // inner)


def _product(sizes: Sequence[int | None]) -> int | None:
    total = 1
    for size in sizes:
        if size is None or size == 0:
            return None
        total *= size
    return total


def _below_slice(
    op: ir.Operation, axis: Axis, source: Sequence[int | None], result: Sequence[int | None]
) -> Axis | None:
    """A slice that has all of the dimension keeps it."""
    offsets, sizes, strides = (int_array(op.attributes[name]) for name in SLICE)
    kept = kept_dims(sizes, result)
    whole = (offsets[axis.dim], sizes[axis.dim], strides[axis.dim]) == (0, source[axis.dim], 1)
    return Axis(kept.index(axis.dim), axis.unit) if whole and axis.dim in kept else None
