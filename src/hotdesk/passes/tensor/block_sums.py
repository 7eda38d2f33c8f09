"""Sums over the rows of tall tensors are made in blocks of rows: more exact, and vectorised however few columns there are.

    %s = linalg.generic {reduction, parallel} ins(%x : tensor<1000000x4xf32>) outs(%o : tensor<4xf32>) { addf }
      ->
    %r = tensor.expand_shape (tensor.extract_slice %x) : tensor<1000x1000x4xf32>
    %p = linalg.generic {reduction, parallel, parallel} ins(%r) outs(fill 0 : tensor<1000x4xf32>) { addf }
    %s = linalg.generic {reduction, parallel} ins(%p) outs(%o) { addf }

Row by row, n rows are n additions behind one another, whose rounding errors add up: 2^25 ones are 2^24 in f32. Here each place
of a block is the sum of n / rows of a block, and the block is summed then, in blocks too if it is tall. Rows behind the last
whole block are added to its first ones. Nothing of it depends on the number of threads, which share the columns of a block.

Legal iff

1. the op has one result, the sum of floats over a loop of at least 2048 known steps, and its last loop is parallel;
2. its payload adds one value to what is there, and asks for no number of a loop;
3. operands are read at numbers of loops and constants, at that loop's number in one dim at most;
4. the block is a small part of an operand that has an element for each step of that loop and of those of the result, or it is
   of known size and stays in the cache: products of tensors that are never there as a whole are added up as they are made;
5. the block has no more than `max_block_in_bytes`, where that is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, dynamic_dims, expand_dim, extract_along, fill, window
from hotdesk.ir.locations import origin
from hotdesk.ir.types import element_bytes, element_of, shape_of, tensor_with
from hotdesk.ir.walking import nested_ops, parallel_loops, segment_sizes
from hotdesk.models.generics import index_ops
from hotdesk.passes.base import FunctionPass

_LEAST = 2048
_FEW = 128
"""Additions to one place of a block that keep nearly all digits."""
_MANY = 1024
"""The most of them, where a block would not stay in the cache otherwise."""
_WIDE = 1 << 10
"""The elements of a block that vectors and their pipelines have enough of."""
_CACHED = 1 << 15
"""The elements of a block that stay in the cache."""


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
        waiting = [op for op in nested_ops(function) if op.name == "linalg.generic"]
        while waiting:
            op = waiting.pop()
            loop = _tall_loop(op)
            if loop is not None and not self._is_too_large(op, loop[1]):
                at = Source(op.name, *origin(op.location))
                waiting.append(_summed_in_blocks(op, *loop))
                yield Decision("sum", Outcome.FOLDED, Reason.SUMMED_IN_BLOCKS, (at,), 0)

    def _is_too_large(self, op: ir.Operation, rows: int) -> bool:
        kind = op.results[0].type
        row = element_bytes(element_of(kind)) * prod(size for size in shape_of(kind) if size is not None)
        return 0 <= self.max_block_in_bytes < _block_rows(op, rows) * row


def _tall_loop(op: ir.Operation) -> tuple[int, int] | None:
    """The loop that an op sums over in blocks, and its steps; None if there is none."""
    parallel = parallel_loops(op)
    if len(op.results) != 1 or not parallel or not parallel[-1] or all(parallel) or not _adds(op):
        return None
    steps = _steps(op)
    tall = [loop for loop, count in enumerate(steps) if not parallel[loop] and count is not None and count >= _LEAST]
    legal = (loop for loop in tall if _is_place_alone(op, loop) and _is_small(op, loop, cast(int, steps[loop])))
    return next(((loop, cast(int, steps[loop])) for loop in legal), None)


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


def _is_small(op: ir.Operation, loop: int, rows: int) -> bool:
    """Whether a block takes little memory, or little beside what is there already."""
    *inputs, result = _maps(op)
    wanted = {_place(expression) for expression in result.results} - {None} | {loop}
    if any(wanted.issubset(map(_place, each.results)) for each in inputs):
        return True
    shape = shape_of(op.results[0].type)
    return None not in shape and _block_rows(op, rows) * prod(cast("list[int]", shape)) <= _CACHED


def _block_rows(op: ir.Operation, rows: int) -> int:
    """How many rows a block has: one that divides their number, if there is one of about that size.

    Where sizes are open, columns may be many: then it has no more rows than it takes to keep the digits.
    """
    shape = shape_of(op.results[0].type)
    columns = _CACHED if None in shape else prod(cast("list[int]", shape))
    wide, cached = -(-_WIDE // max(columns, 1)), _CACHED // max(columns, 1)
    least = max(-(-rows // _MANY), min(-(-rows // _FEW), cached), min(rows // 8, wide), 2)
    return next((each for each in range(least, 2 * least) if rows % each == 0), least)


def _summed_in_blocks(op: ir.Operation, loop: int, rows: int) -> ir.Operation:
    """Replaces an op, and returns what sums the block."""
    block_rows = _block_rows(op, rows)
    whole = rows // block_rows * block_rows
    block = _blocks(op, loop, block_rows, whole).results[0]
    if whole < rows:
        block = _with_the_rest(op, loop, block, whole, rows)
    total = _total(op, block, loop)
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
    dynamic = dynamic_dims(added, op)
    attributes = window(shape_of(added.type), at, 0, [1, 1, 0, len(dynamic), 0])
    return create("tensor.insert_slice", [added, block, *dynamic], [block.type], attributes, before=op).results[0]


def _inputs(op: ir.Operation) -> list[tuple[ir.Value, ir.AffineMap]]:
    return list(zip(list(op.operands), _maps(op), strict=True))[: segment_sizes(op)[0]]


def _kinds(op: ir.Operation) -> list[ir.Attribute]:
    return list(cast(Any, op.attributes["iterator_types"]))


def _rows(value: ir.Value, places: ir.AffineMap, loop: int, first: int, end: int, before: ir.Operation) -> ir.Value:
    """The part of an operand that a loop reads from one step to another."""
    dims = [_place(expression) for expression in places.results]
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
        dims = [_place(expression) for expression in each.results]
        if loop in dims:
            part = expand_dim(part, dims.index(loop), (whole // block_rows, block_rows), op)
        inputs.append(part)
        maps.append(_widened(each, loop))
    init, init_map = op.operands[len(op.operands) - 1], _maps(op)[-1]
    at = _place_of_rows(op, loop)
    sizes = [*shape_of(init.type)]
    sizes.insert(at, block_rows)
    kind = tensor_with(sizes, init.type)
    empty = create("tensor.empty", dynamic_dims(init, op), [kind], before=op).results[0]
    element = cast(Any, kind).element_type
    zero = create("arith.constant", [], [element], {"value": ir.FloatAttr.get(element, 0.0)}, before=op).results[0]
    widened = _widened(init_map, loop)
    results = list(widened.results)
    results.insert(at, ir.AffineDimExpr.get(loop + 1))
    maps.append(ir.AffineMap.get(widened.n_dims, 0, results))
    kinds = _kinds(op)
    kinds.insert(loop + 1, ir.Attribute.parse("#linalg.iterator_type<parallel>"))
    return _like(op, [*inputs, fill(zero, empty, op)], maps, kinds, kind)


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


def _total(op: ir.Operation, block: ir.Value, loop: int) -> ir.Operation:
    """What adds the rows of a block to what the sum begins with."""
    init, at = op.operands[len(op.operands) - 1], _place_of_rows(op, loop)
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
