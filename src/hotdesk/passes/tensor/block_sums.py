"""Sums over the rows of tall tensors are made in blocks of rows: more exact, and vectorised however few columns there are.

    %s = linalg.generic {reduction, parallel} ins(%x : tensor<1000000x4xf32>) outs(%o : tensor<4xf32>) { addf }
      ->
    %r = tensor.expand_shape (tensor.extract_slice %x) : tensor<1000x1000x4xf32>
    %p = linalg.generic {reduction, parallel, parallel} ins(%r) outs(fill 0 : tensor<1000x4xf32>) { addf }
    %s = linalg.generic {reduction, parallel} ins(%p) outs(%o) { addf }

Row by row, n rows are n additions behind one another, whose rounding errors add up: 2^25 ones are 2^24 in f32. Here each place
of a block is the sum of n / rows of a block, and the block is summed then, in blocks too if it is tall. Rows behind the last
whole block are added to its first ones. Nothing of it depends on the number of threads, which share the columns of a block.
Where several loops are summed over, each of them is cut so.

How many rows there are may be known in the call only. Then each 1024 rows have a sum of their own: the sums take a thousandth of
the rows' memory, however few those are, and rows behind the last 1024 are what the sum of the sums begins with:

    %n = (dim of %x) / 1024
    %p = linalg.generic {parallel, reduction, parallel} ins(expand_shape (%x up to %n * 1024)) outs(0 : tensor<?x4xf32>) { addf }
    %r = linalg.generic {reduction, parallel} ins(%x from %n * 1024 on) outs(%o) { addf }
    %s = linalg.generic {reduction, parallel} ins(%p) outs(%r) { addf }

Where no loop alone has many steps but several together do, as in a batch norm's sums over images and their pixels, each step of
the first loop has a sum of its own, and these are added up then; each 16 steps, where their number is open.

Legal iff

1. the op has one result, the sum of floats over
   a. a loop of at least 2048 steps, or of an open number, and its last loop is parallel; or
   b. several loops of at least 2^14 steps together, and a parallel one behind the first: 2^18 steps if the last loop is summed
      over too, which vectors share, or an open number;
2. its payload adds one value to what is there (`arith.addf`), and asks for no number of a loop;
3. operands are read at numbers of loops and constants, at that loop's number in one dim at most;
4. the block is a small part of an operand that has an element for each step of that loop and of those of the result, or it is
   of known size and stays in the cache: products of tensors that are never there as a whole are added up as they are made
   (where the number of rows is open: a result has no more elements than a run has rows);
5. the block has no more than `max_block_in_bytes`, where that is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, dim, expand_dim, extract_along, fill, index_constant, insert_along
from hotdesk.ir.locations import origin
from hotdesk.ir.types import element_bytes, element_of, shape_of, tensor_with
from hotdesk.ir.walking import nested_ops, parallel_loops, segment_sizes
from hotdesk.models.generics import GENERIC, index_ops
from hotdesk.passes.base import FunctionPass

_LEAST = 2048
_FEW = 128
"""Additions to one place of a block that keep nearly all digits."""
_MANY = 1024
"""The most of them, where a block would not stay in the cache otherwise."""
_SOME = 16
"""The rows of a run where vectors add up what is in a row, such as the pixels of an image."""
_WIDE = 1 << 10
"""The elements of a block that vectors and their pipelines have enough of."""
_CACHED = 1 << 15
"""The elements of a block that stay in the cache."""
_TOGETHER = 1 << 14
"""Additions behind one another, of several loops, that lose digits."""
_TOGETHER_IN_VECTORS = 1 << 18
"""As many, where vectors share them."""


@dataclass(frozen=True, slots=True)
class SumInBlocks(FunctionPass):
    """Sums over many rows become sums of blocks of rows (see the module docstring).

    Options:
        max_block_in_bytes: the most that a block takes, sizes that are open counted as 1; -1 for any.
    """

    name: ClassVar[str] = "hotdesk-sum-in-blocks"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.SUMMED_IN_BLOCKS,)

    max_block_in_bytes: int = -1

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        waiting = [_Sum(op) for op in nested_ops(function) if op.name == GENERIC]
        while waiting:
            each = waiting.pop()
            cut = _cut(each)
            if cut is None or self._is_too_large(each.op, cut):
                continue
            at = Source(each.op.name, *origin(each.op.location))
            waiting += _CUTTERS[cut.kind](each, cut)
            yield Decision("sum", Outcome.FOLDED, Reason.SUMMED_IN_BLOCKS, (at,), 0)

    def _is_too_large(self, op: ir.Operation, cut: _Cut) -> bool:
        kind = op.results[0].type
        row = element_bytes(element_of(kind)) * prod(size for size in shape_of(kind) if size is not None)
        return 0 <= self.max_block_in_bytes < cut.block_rows * row


class _Sum(NamedTuple):
    """An op that may be a sum, and the loops of it that stay as they are."""

    op: ir.Operation
    stay: frozenset[int] = frozenset()


class _Cut(NamedTuple):
    """How a loop is cut: into blocks of rows, into runs of rows whose number is open, or each step apart.

    Attributes:
        rows: the steps of the loop, or of a run where they are open.
        block_rows: how many sums are kept apart in the end; 1 where that is open.
    """

    kind: str
    loop: int
    rows: int
    block_rows: int


def _cut(candidate: _Sum) -> _Cut | None:
    """The loop that an op sums over in parts next, and how; None if there is none."""
    op, parallel = candidate.op, parallel_loops(candidate.op)
    if len(op.results) != 1 or not parallel or all(parallel) or not _adds(op):
        return None
    steps = _steps(op)
    reduced = [i for i, each in enumerate(parallel) if not each and i not in candidate.stay and _is_place_alone(op, i)]
    for loop in reduced if parallel[-1] else ():
        rows = steps[loop]
        if rows is not None and rows >= _LEAST and _is_small(op, loop, rows):
            return _Cut("blocks", loop, rows, _block_rows(op, rows))
    for loop in reduced if parallel[-1] else ():
        if steps[loop] is None and _has_few_runs(op, loop, _MANY):
            return _Cut("runs", loop, _MANY, 1)
    count = prod(steps[i] or 1 for i, each in enumerate(parallel) if not each)
    least = _TOGETHER if parallel[-1] else _TOGETHER_IN_VECTORS
    for loop in (each for each in reduced if any(parallel[each:])):  # others are joined to one
        rows = steps[loop]
        if rows is None and not parallel[-1] and _has_few_runs(op, loop, _SOME):
            return _Cut("runs", loop, _SOME, 1)
        if rows is not None and rows > 1 and count >= max(least, _FEW * rows) and _is_apart(op, loop, rows):
            return _Cut("steps", loop, rows, rows)
    return None


def _adds(op: ir.Operation) -> bool:
    """Whether the payload adds a value to what is there, and nothing else to it."""
    block = op.regions[0].blocks[0]
    *body, last = (each.operation for each in block.operations)
    there = list(block.arguments)[-1]
    uses = list(there.uses)
    if len(uses) != 1 or index_ops(op):
        return False
    added = cast(Any, uses[0].owner).operation
    return added in body and added.name == "arith.addf" and last.operands[0] == added.results[0]


def _maps(op: ir.Operation) -> list[ir.AffineMap]:
    return [each.value for each in cast(Any, op.attributes["indexing_maps"])]


def _place(expression: ir.AffineExpr) -> int | None:
    return cast(Any, expression).position if isinstance(expression, ir.AffineDimExpr) else None


def _dims(places: ir.AffineMap) -> list[int | None]:
    """The loop that each dim is read at the number of; None where that is a constant."""
    return [_place(expression) for expression in places.results]


def _steps(op: ir.Operation) -> list[int | None]:
    """The steps of each loop, where an operand's type tells."""
    steps: list[int | None] = [None] * len(parallel_loops(op))
    for value, each in zip(op.operands, _maps(op), strict=True):
        for expression, size in zip(each.results, shape_of(value.type), strict=True):
            loop = _place(expression)
            if loop is not None and size is not None:
                steps[loop] = size
    return steps


def _is_place_alone(op: ir.Operation, loop: int) -> bool:
    """Whether operands are read where loops are, and at the number of one loop in one dim at most."""
    plain = (ir.AffineDimExpr, ir.AffineConstantExpr)
    return all(
        all(isinstance(expression, plain) for expression in each.results)
        and [_place(expression) for expression in each.results].count(loop) <= 1
        for each in _maps(op)
    )


def _is_read_whole(op: ir.Operation, loop: int) -> bool:
    """Whether an operand has an element for each step of a loop and of those of the result."""
    *inputs, result = _maps(op)
    wanted = {_place(expression) for expression in result.results} - {None} | {loop}
    return any(wanted.issubset(map(_place, each.results)) for each in inputs)


def _is_small(op: ir.Operation, loop: int, rows: int) -> bool:
    """Whether a block takes little memory, or little beside what is there already."""
    shape = shape_of(op.results[0].type)
    return _is_read_whole(op, loop) or (
        None not in shape and _block_rows(op, rows) * prod(cast("list[int]", shape)) <= _CACHED
    )


def _has_few_runs(op: ir.Operation, loop: int, rows: int) -> bool:
    """Whether the sums of so many rows each take little memory, or no more than the rows."""
    shape = shape_of(op.results[0].type)
    return _is_read_whole(op, loop) or (None not in shape and prod(cast("list[int]", shape)) <= rows)


def _is_apart(op: ir.Operation, loop: int, rows: int) -> bool:
    """Whether one sum for each step of a loop takes little memory."""
    shape = shape_of(op.results[0].type)
    return _is_read_whole(op, loop) or (None not in shape and rows * prod(cast("list[int]", shape)) <= _CACHED)


def _block_rows(op: ir.Operation, rows: int) -> int:
    """How many rows a block has: one that divides their number, if there is one of about that size.

    Where sizes are open, columns may be many: then it has no more rows than it takes to keep the digits.
    """
    shape = shape_of(op.results[0].type)
    columns = _CACHED if None in shape else prod(cast("list[int]", shape))
    wide, cached = -(-_WIDE // max(columns, 1)), _CACHED // max(columns, 1)
    least = max(-(-rows // _MANY), min(-(-rows // _FEW), cached), min(rows // 8, wide), 2)
    return next((each for each in range(least, 2 * least) if rows % each == 0), least)


def _in_blocks(candidate: _Sum, cut: _Cut) -> list[_Sum]:
    """Replaces an op by the sum of its blocks and that of the block's rows; returns what it made."""
    op, loop, rows, block_rows = candidate.op, cut.loop, cut.rows, cut.block_rows
    whole = rows // block_rows * block_rows
    made = [_blocks(op, loop, block_rows, whole)]
    block = made[0].results[0]
    if whole < rows:
        block = _with_the_rest(op, loop, block, whole, rows)
        made.append(cast(Any, block.owner).operands[0].owner.operation)
    return [*map(_Sum, made), _Sum(_replaced(op, loop, block))]


def _in_runs(candidate: _Sum, cut: _Cut) -> list[_Sum]:
    """Replaces an op by the sum of each run of rows, that of the rows behind them, and the sum of the sums."""
    op, loop, run = candidate.op, cut.loop, cut.rows
    index = ir.IndexType.get()
    read, at = next((value, dims.index(loop)) for value, each in _inputs(op) if loop in (dims := _dims(each)))
    rows, length = dim(read, at, op), index_constant(run, op)
    runs = create("arith.floordivsi", [rows, length], [index], before=op).results[0]
    whole = create("arith.muli", [runs, length], [index], before=op).results[0]
    left = create("arith.subi", [rows, whole], [index], before=op).results[0]
    inputs, behind, maps = list[ir.Value](), list[ir.Value](), list[ir.AffineMap]()
    for value, each in _inputs(op):
        if loop in _dims(each):
            place = _dims(each).index(loop)
            sizes = list(shape_of(value.type))
            sizes[place] = None
            kind = tensor_with(sizes, value.type)
            inputs.append(expand_dim(extract_along(value, kind, place, 0, op, whole), place, (runs, run), op))
            behind.append(extract_along(value, kind, place, whole, op, left))
        else:
            inputs.append(value)
            behind.append(value)
        maps.append(_widened(each, loop))
    kinds = _kinds(op)
    kinds.insert(loop, _parallel())
    apart = _apart(op, inputs, [*maps, _widened(_maps(op)[-1], loop)], kinds, loop, loop, runs)
    init = op.operands[len(op.operands) - 1]
    rest = _like(op, [*behind, init], _maps(op), _kinds(op), init.type)
    total = _replaced(op, loop, apart.results[0], rest.results[0])
    return [_Sum(apart), _Sum(rest, candidate.stay | {loop}), _Sum(total, frozenset({_place_of(total)}))]


def _step_by_step(candidate: _Sum, cut: _Cut) -> list[_Sum]:
    """Replaces an op by the sums of each step of a loop and the sum of those."""
    op, loop = candidate.op, cut.loop
    kinds = _kinds(op)
    kinds[loop] = _parallel()
    apart = _apart(op, [value for value, _ in _inputs(op)], _maps(op), kinds, loop, loop, cut.rows)
    return [_Sum(apart), _Sum(_replaced(op, loop, apart.results[0]))]


_CUTTERS = {"blocks": _in_blocks, "runs": _in_runs, "steps": _step_by_step}


def _parallel() -> ir.Attribute:
    return ir.Attribute.parse("#linalg.iterator_type<parallel>")


def _place_of(total: ir.Operation) -> int:
    """The loop that a sum of sums adds up."""
    return parallel_loops(total).index(False)


def _replaced(op: ir.Operation, loop: int, sums: ir.Value, init: ir.Value | None = None) -> ir.Operation:
    """Replaces an op, and returns what adds up the sums that were kept apart."""
    total = _total(op, sums, loop, init)
    op.results[0].replace_all_uses_with(total.results[0])
    op.erase()
    return total


def _with_the_rest(op: ir.Operation, loop: int, block: ir.Value, first: int, end: int) -> ir.Value:
    """A block to whose first rows those behind the last whole block are added."""
    inputs = [_rows(value, each, loop, first, end, op) for value, each in _inputs(op)]
    at, sizes = _place_of_rows(op, loop), list(shape_of(block.type))
    sizes[at] = end - first
    part = extract_along(block, tensor_with(sizes, block.type), at, 0, op)
    maps, kinds = _maps(op), _kinds(op)
    results = list(maps[-1].results)
    results.insert(at, ir.AffineDimExpr.get(loop))
    maps[-1] = ir.AffineMap.get(maps[-1].n_dims, 0, results)
    kinds[loop] = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    added = _like(op, [*inputs, part], maps, kinds, part.type).results[0]
    return insert_along(added, block, at, 0, op)


def _inputs(op: ir.Operation) -> list[tuple[ir.Value, ir.AffineMap]]:
    return list(zip(list(op.operands), _maps(op), strict=True))[: segment_sizes(op)[0]]


def _kinds(op: ir.Operation) -> list[ir.Attribute]:
    return list(cast(Any, op.attributes["iterator_types"]))


def _rows(value: ir.Value, places: ir.AffineMap, loop: int, first: int, end: int, before: ir.Operation) -> ir.Value:
    """The part of an operand that a loop reads from one step to another."""
    dims = _dims(places)
    if loop not in dims:
        return value
    at = dims.index(loop)
    sizes = list(shape_of(value.type))
    if sizes[at] == end - first:
        return value
    sizes[at] = end - first
    return extract_along(value, tensor_with(sizes, value.type), at, first, before)


def _blocks(op: ir.Operation, loop: int, block_rows: int, whole: int) -> ir.Operation:
    """The sum of all blocks: one loop over them, and in place of the rows a parallel one behind it."""
    inputs: list[ir.Value] = []
    maps: list[ir.AffineMap] = []
    for value, each in _inputs(op):
        part = _rows(value, each, loop, 0, whole, op)
        dims = _dims(each)
        if loop in dims:
            part = expand_dim(part, dims.index(loop), (whole // block_rows, block_rows), op)
        inputs.append(part)
        maps.append(_widened(each, loop))
    kinds = _kinds(op)
    kinds.insert(loop + 1, _parallel())
    return _apart(op, inputs, [*maps, _widened(_maps(op)[-1], loop)], kinds, loop + 1, loop, block_rows)


def _apart(
    op: ir.Operation,
    inputs: list[ir.Value],
    maps: list[ir.AffineMap],
    kinds: list[ir.Attribute],
    loop: int,
    behind: int,
    rows: int | ir.Value,
) -> ir.Operation:
    """The op over other loops, with a sum of its own for each of `rows` steps of a loop, which begins with 0.

    The place of these is behind what loops around `behind` write.
    """
    init, at = op.operands[len(op.operands) - 1], _place_of_rows(op, behind)
    sizes: list[int | None] = [*shape_of(init.type)]
    sizes.insert(at, rows if isinstance(rows, int) else None)
    kind = tensor_with(sizes, init.type)
    before, behind_it = (
        [dim(init, i, op) for i, size in enumerate(shape_of(init.type)) if size is None and (i < at) == first]
        for first in (True, False)
    )
    dynamic = [*before, *(() if isinstance(rows, int) else (rows,)), *behind_it]
    empty = create("tensor.empty", dynamic, [kind], before=op).results[0]
    element = cast(Any, kind).element_type
    zero = create("arith.constant", [], [element], {"value": ir.FloatAttr.get(element, 0.0)}, before=op).results[0]
    results = list(maps[-1].results)
    results.insert(at, ir.AffineDimExpr.get(loop))
    places = ir.AffineMap.get(maps[-1].n_dims, 0, results)
    return _like(op, [*inputs, fill(zero, empty, op)], [*maps[:-1], places], kinds, kind)


def _place_of_rows(op: ir.Operation, loop: int) -> int:
    """The dim of the block that has its rows: behind those that loops around them write."""
    places = [_place(expression) for expression in _maps(op)[-1].results]
    return sum(place is not None and place < loop for place in places)


def _widened(places: ir.AffineMap, loop: int) -> ir.AffineMap:
    """A map over loops among which one more comes behind another, which is read at both numbers."""
    dims = [ir.AffineDimExpr.get(i if i <= loop else i + 1) for i in range(places.n_dims)]
    results: list[ir.AffineExpr] = []
    for expression in places.results:
        results.append(cast(Any, expression).compose(ir.AffineMap.get(places.n_dims + 1, 0, dims)))
        if _place(expression) == loop:
            results.append(ir.AffineDimExpr.get(loop + 1))
    return ir.AffineMap.get(places.n_dims + 1, 0, results)


def _total(op: ir.Operation, block: ir.Value, loop: int, init: ir.Value | None) -> ir.Operation:
    """What adds the rows of a block to what the sum begins with, the op's own init unless another is given."""
    init = op.operands[len(op.operands) - 1] if init is None else init
    at = _place_of_rows(op, loop)
    rank = len(shape_of(init.type)) + 1
    identity = ir.AffineMap.get_identity(rank)
    kept = ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(i) for i in range(rank) if i != at])
    kinds = [
        ir.Attribute.parse(f"#linalg.iterator_type<{'reduction' if i == at else 'parallel'}>") for i in range(rank)
    ]
    attributes: dict[str, ir.Attribute] = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in (identity, kept)]),
        "iterator_types": ir.ArrayAttr.get(kinds),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
    }
    total = create("linalg.generic", [block, init], [init.type], attributes, regions=1, before=op)
    element = cast(Any, init.type).element_type
    body = total.regions[0].blocks.append(element, element, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(body), op.location:
        added = ir.Operation.create("arith.addf", [element], list(body.arguments)).results[0]
        ir.Operation.create("linalg.yield", [], [added])
    return total


def _like(
    op: ir.Operation,
    operands: list[ir.Value],
    maps: list[ir.AffineMap],
    kinds: list[ir.Attribute],
    result: ir.Type,
) -> ir.Operation:
    """An op with the same payload in front of it, over other operands and loops."""
    clone = op.clone(ir.InsertionPoint(op))
    for number, value in enumerate(operands):
        clone.operands[number] = value
    clone.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    clone.attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
    clone.results[0].set_type(result)
    return clone.operation
