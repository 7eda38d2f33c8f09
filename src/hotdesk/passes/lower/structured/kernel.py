"""Kernels of structured ops that no library serves: the op itself in a function of its views, lowered to loops by MLIR.

    linalg.generic ins(%a, %b) outs(%b)   ->   func @kernel(%a: memref<f32> noalias, %b: memref<f32> noalias) {
                                                 %A = reinterpret_cast %a …; %B = …; linalg.generic ins(%A, %B) outs(%B) }

1. Each memref the op touches is one pointer argument, however often it is an operand.
2. Scalars that the region captures are cloned into the kernel with what computes them; sizes become arguments. Between other
   code, all scalars but constants do: what they were loaded from may have changed, or be freed.
3. `cf.assert` in a region becomes a store of its code to the status word, in loops of their own where that can be (`checks`); a
   failed one neither ends the process nor reads out of bounds.
4. Sums over reduced dims may be reassociated, which lets them be vectorised.
5. Where the work is worth several threads, the kernel does a range of one loop, `first` to `last`, and another function has all
   ranges done (`cuts`, `kernels.parts`).
6. Loops that step through memory as one are one (`joined`), and those over operands that lie transposed to one another go in
   blocks (`blocks`); so do those whose payload loads at such places (`loads`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.building import clone_with, slice_parts
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, FunctionSignature, formals, new_function
from hotdesk.ir.types import is_memref, memref_with, row_major, static_entries
from hotdesk.ir.walking import captured_operands, defining_op, dialect_of, is_constant, nested_ops, values_read
from hotdesk.kernels.text import View
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import index_ops
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.lower.structured.blocks import block_transposed
from hotdesk.passes.lower.structured.cuts import find_cut, head_text
from hotdesk.passes.lower.structured.joined import join_loops
from hotdesk.passes.lower.views import MemrefPlaces, ResolvedMemref, ScalarSizes
from hotdesk.passes.payload_checks import can_check_apart, check_apart, has_checks, replace_checks
from hotdesk.sizes.size import Size, is_opaque

_REASSOCIATED = ("arith.addf", "arith.mulf")
COMPUTED_DIALECTS = SCALAR_DIALECTS | {"affine", "ub"}
"""Dialects of ops on numbers, which kernels compute themselves."""


@dataclass(slots=True)
class LoopKernel:
    """A kernel under construction and what its call passes: memrefs, sizes, scalars, and the status word if it has checks.

    `head` is the text of the function to call where `function` does a range of the work only; empty where it does all.
    """

    function: ir.Operation
    memrefs: list[ir.Value] = field(default_factory=list[ir.Value])
    scalars: list[Size] = field(default_factory=list[Size])
    passed: list[ir.Value] = field(default_factory=list[ir.Value])
    needs_status: bool = False
    head: str = ""


def build_loop_kernel(
    op: ir.Operation,
    module: ir.Module,
    places: MemrefPlaces,
    sizes: ScalarSizes,
    assertion_code: Callable[[ir.Operation], int],
    *,
    computes: bool = True,
) -> LoopKernel:
    """Makes the kernel of `op` as the last function of `module`, named `@KERNEL`.

    `assertion_code` gives the status code of a `cf.assert`. Unless the kernel `computes` scalars that it can, they are passed.
    """
    reads = _reads(op, sizes, computes)
    memrefs = list(reads.memrefs)
    resolved = [places.of(value) for value in memrefs]
    is_checked = has_checks(op)
    scalars = [size for place in resolved for size in place.unknowns()]
    views = [place.view() for place in resolved]
    bases = {value: place.base for value, place in zip(memrefs, resolved, strict=True)}
    seen = dict(zip(memrefs, views, strict=True))
    joined = join_loops(op, seen, reads.indexed)
    cut = find_cut(op, seen, bases, reads.indexed, joined)
    if cut is not None and len(cut.loops) == 1:
        joined = join_loops(op, seen, reads.indexed, cut.loops)
    types = [*([ir.IndexType.get()] * (len(scalars) + len(reads.indices))), *(value.type for value in reads.passed)]
    status = ir.MemRefType.get([], ir.IntegerType.get_signless(32))
    own = [str(kind) for kind in (*types[len(scalars) :], *([status] if is_checked else ()))]
    head = "" if cut is None else head_text(cut, memrefs, views, own)
    takes = [*formals(types), *([Formal(status).stating(no_alias=True)] if is_checked else ())]
    takes += formals([ir.IntegerType.get_signless(64)] * (2 if cut is not None else 0))
    function, block = _function(module, op, memrefs, resolved, takes)
    numbers = [*scalars, *(sizes.value(value) for value in reads.indices)]
    kernel = LoopKernel(function, memrefs, numbers, list(reads.passed), is_checked, head)
    arguments = list(block.arguments)
    point = ir.InsertionPoint(block)
    mapping: dict[ir.Value, ir.Value] = {}
    rest = iter(arguments[len(memrefs) :])
    with op.location:
        piece = None if cut is None else _Range.of(arguments[-2], arguments[-1], point)
        for value, view, pointer in zip(memrefs, views, arguments, strict=False):
            groups = joined.dims.get(value) if joined is not None else None
            groups = tuple((i,) for i in range(len(view.sizes))) if groups is None else groups
            mapping[value] = _seen(pointer, view, rest, point, groups, piece, cut and cut.dims.get(value))
        for value in reads.indices:
            mapping[value] = _as_type(next(rest), value.type, point)
        mapping.update((value, _index(number, point)) for value, number in reads.known.items())
        mapping.update((value, next(rest)) for value in reads.passed)
        clone = _clone(op, mapping, point)
        if joined is not None:
            joined.apply(clone)
        if cut is not None and piece is not None:
            loop = cut.loops[-1]
            _count_from(clone, loop if joined is None else joined.loop(loop), piece.first)
        if "iterator_types" in op.attributes and "reduction" in str(op.attributes["iterator_types"]):
            _allow_reassociation(clone)
        if is_checked:  # last: nothing stays of an op that only checks
            replace = check_apart if can_check_apart(clone) else replace_checks
            replace(clone, arguments[-1 if cut is None else -3], assertion_code)
        else:
            written = {bases[value] for value in _written(op).intersection(memrefs)}
            block_transposed(clone, {mapping[value] for value in memrefs if bases[value] not in written})
        ir.Operation.create("func.return", ip=point)
    return kernel


@dataclass(frozen=True, slots=True)
class _KernelReads:
    """What an op and its region read that is defined around them, and what the scalars among that are computed from.

    Attributes:
        memrefs: those that the op touches, those that scalars are loaded from included.
        indexed: the memrefs that are read at indices of their own, not where the loops are: in the region, or for scalars.
        indices: index values that follow from sizes; they come with the call.
        known: index values that are computed and yet numbers, as that of a size which turned out to be one.
        passed: the scalars that the kernel does not compute: what it cannot, or all but constants.
    """

    memrefs: tuple[ir.Value, ...]
    indexed: frozenset[ir.Value]
    indices: tuple[ir.Value, ...]
    known: dict[ir.Value, int]
    passed: tuple[ir.Value, ...]


def _reads(op: ir.Operation, sizes: ScalarSizes, computes: bool) -> _KernelReads:
    captured = [value for _, _, value in captured_operands(op)]
    waiting = [*op.operands, *captured]
    indexed = [value for value in captured if is_memref(value.type)]
    memrefs, indices, passed = (dict[ir.Value, None]() for _ in range(3))
    known: dict[ir.Value, int] = {}
    seen = set[ir.Value]()
    for value in waiting:  # grows
        if value in seen:
            continue
        seen.add(value)
        producer = defining_op(value)
        if is_memref(value.type):
            memrefs[value] = None
        elif isinstance(value.type, ir.IndexType):
            number = _number_of(value, op, sizes)
            if not isinstance(number, int):
                indices[value] = None
            elif producer is None or not is_constant(producer):
                known[value] = number
        elif producer is None or not _is_computed(producer, computes):
            passed[value] = None
        else:
            waiting.extend(producer.operands)
            indexed.extend(operand for operand in producer.operands if is_memref(operand.type))
    return _KernelReads(tuple(memrefs), frozenset(indexed), tuple(indices), known, tuple(passed))


def _number_of(value: ir.Value, op: ir.Operation, sizes: ScalarSizes) -> Size:
    number = sizes.value(value)
    if is_opaque(number):
        raise LoweringError(
            "an index depends on the values of a tensor", expected="sizes that follow from the arguments",
            got=str(value), where=python_line(op.location),
        )  # fmt: skip
    return number


def _is_computed(producer: ir.Operation, computes: bool) -> bool:
    """Whether a kernel computes a scalar itself."""
    return is_constant(producer) or (computes and _is_on_scalars(producer))


def _is_on_scalars(op: ir.Operation) -> bool:
    """Whether an op is one on numbers, or reads what is known of memrefs."""
    return dialect_of(op.name) in COMPUTED_DIALECTS | {"memref"}


def _written(op: ir.Operation) -> set[ir.Value]:
    from hotdesk.ir.walking import segment_sizes

    if "operandSegmentSizes" in op.attributes:
        inputs = segment_sizes(op)[0]
        return set(list(op.operands)[inputs:])
    return set(op.operands)


def disjoint(resolved: Sequence[ResolvedMemref], written: Sequence[bool]) -> tuple[bool, ...]:
    """For each pointer, whether it may be `noalias`: no other pointer of its base, or none of them written."""
    result: list[bool] = []
    for i, place in enumerate(resolved):
        others = [j for j, other in enumerate(resolved) if j != i and other.base == place.base]
        result.append(not others or not (written[i] or any(written[j] for j in others)))
    return tuple(result)


def _function(
    module: ir.Module,
    op: ir.Operation,
    memrefs: list[ir.Value],
    resolved: list[ResolvedMemref],
    others: Sequence[Formal],
) -> tuple[ir.Operation, ir.Block]:
    written = _written(op)
    alone = disjoint(resolved, [value in written for value in memrefs])
    pointers: list[ir.Type] = [ir.MemRefType.get([], cast(Any, value.type).element_type) for value in memrefs]
    takes = [Formal(kind).stating(no_alias=each) for kind, each in zip(pointers, alone, strict=True)]
    return new_function("KERNEL", FunctionSignature((*takes, *others), ()), ir.InsertionPoint(module.body), op.location)


class _Range(NamedTuple):
    """Where a range of a loop begins, and how long it is."""

    first: ir.Value
    length: ir.Value

    @classmethod
    def of(cls, first: ir.Value, last: ir.Value, point: ir.InsertionPoint) -> _Range:
        """From its ends, `i64`s."""
        first, last = (_as_type(value, ir.IndexType.get(), point) for value in (first, last))
        return cls(first, _number("arith.subi", last, first, point))


def _seen(
    pointer: ir.Value,
    view: View,
    rest: Any,
    point: ir.InsertionPoint,
    groups: Sequence[tuple[int, ...]],
    piece: _Range | None,
    dim: int | None,
) -> ir.Value:
    """`memref.reinterpret_cast` of a bare pointer to its view; unknown sizes and strides are the next arguments.

    Dims of a group are one. Of a dim that a range of a loop runs through, only that range is seen.
    """
    sizes: list[ir.Value | int] = [next(rest) if size is None else size for size in view.sizes]
    strides: list[ir.Value | int] = [next(rest) if stride is None else stride for stride in view.strides]
    sizes = [_product([sizes[i] for i in group], point) for group in groups]
    strides = [strides[group[-1]] for group in groups]
    offsets: list[ir.Value | int] = [0]
    if piece is not None and dim is not None:
        dim = next(i for i, group in enumerate(groups) if dim in group)
        stride = strides[dim]
        step = _index(stride, point) if isinstance(stride, int) else stride
        offsets, sizes[dim] = [_number("arith.muli", piece.first, step, point)], piece.length
    static = [tuple(each if isinstance(each, int) else None for each in group) for group in (offsets, sizes, strides)]
    if static[2] == row_major(static[1]) and None not in static[2] and static[0] == (0,):
        result = memref_with(static[1], pointer.type)
    else:
        offset = static_entries(static[0])[0]
        layout = ir.StridedLayoutAttr.get(offset, static_entries(static[2]))
        element = cast(Any, pointer.type).element_type
        result = ir.MemRefType.get(static_entries(static[1]), element, layout)
    operands, attributes = slice_parts([pointer], offsets, sizes, strides)
    name = "memref.reinterpret_cast"
    return ir.Operation.create(name, results=[result], operands=operands, attributes=attributes, ip=point).results[0]


def _count_from(op: ir.Operation, loop: int, first: ir.Value) -> None:
    """Lets the places of a loop that the region asks for begin at that of a range."""
    for nested, asked in index_ops(op):
        if asked == loop:
            users = list(nested.results[0].uses)
            with nested.location:
                place = _number("arith.addi", nested.results[0], first, ir.InsertionPoint.after(nested))
            for use in users:
                use.owner.operands[use.operand_number] = place


def _product(sizes: Sequence[ir.Value | int], point: ir.InsertionPoint) -> ir.Value | int:
    known = prod(size for size in sizes if isinstance(size, int))
    unknown = [size for size in sizes if not isinstance(size, int)]
    if not unknown:
        return known
    factors = [*unknown, _index(known, point)] if known != 1 else unknown
    return reduce(lambda a, b: _number("arith.muli", a, b, point), factors)


def _number(name: str, a: ir.Value, b: ir.Value, point: ir.InsertionPoint) -> ir.Value:
    return ir.Operation.create(name, results=[a.type], operands=[a, b], ip=point).results[0]


def _index(value: int, point: ir.InsertionPoint) -> ir.Value:
    index = ir.IndexType.get()
    attributes: dict[str, ir.Attribute] = {"value": ir.IntegerAttr.get(index, value)}
    return ir.Operation.create("arith.constant", results=[index], attributes=attributes, ip=point).results[0]


def _as_type(value: ir.Value, wanted: ir.Type, point: ir.InsertionPoint) -> ir.Value:
    if value.type == wanted:
        return value
    return ir.Operation.create("arith.index_cast", results=[wanted], operands=[value], ip=point).results[0]


def _clone(op: ir.Operation, mapping: dict[ir.Value, ir.Value], point: ir.InsertionPoint) -> ir.Operation:
    for value in values_read(op):
        _materialize(value, mapping, point)
    return clone_with(op, mapping, point)


def _materialize(value: ir.Value, mapping: dict[ir.Value, ir.Value], point: ir.InsertionPoint) -> None:
    """Clones the scalar computation behind a captured value into the kernel."""
    if value in mapping:
        return
    producer = defining_op(value)
    if producer is None or not _is_on_scalars(producer) or producer.name == ALLOC:
        what = "an argument" if producer is None else f"`{producer.name}`"
        raise LoweringError(f"a kernel cannot compute a scalar from {what}", got=str(value.type))
    for operand in producer.operands:
        _materialize(operand, mapping, point)
    clone_with(producer, mapping, point)


def _allow_reassociation(op: ir.Operation) -> None:
    flags = ir.Attribute.parse("#arith.fastmath<reassoc>")
    for nested in nested_ops(op):
        if nested.name in _REASSOCIATED:
            nested.attributes["fastmath"] = flags
