"""Small builders for the ops that several passes make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice
from math import prod
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.types import (
    DYNAMIC,
    SLICE,
    is_any_tensor,
    like_vector,
    row_major,
    scalar_of,
    shape_of,
    static_entries,
    tensor_with,
)
from hotdesk.ir.walking import attributes_of, captured_operands

UNREALIZED_CAST = "builtin.unrealized_conversion_cast"
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The predicates of `arith.cmpi`, as it numbers them."""
_HOW_FLOATS = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
"""Those of `arith.cmpf`."""


def create(
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute] | None = None,
    regions: int = 0,
    *,
    before: ir.Operation,
    successors: Sequence[ir.Block] = (),
) -> ir.Operation:
    """Creates an op in front of another one, at that one's location."""
    point, known = ir.InsertionPoint(before), dict(attributes) if attributes else None
    # by position: names cost the bindings half as much again as the op does
    return ir.Operation.create(
        name, results, operands, known, list(successors), regions, before.location, point
    ).operation


def remade(
    old: ir.Operation,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    name: str | None = None,
) -> ir.Operation:
    """An op with other operands and results in front of the old one, which stays without its regions: the new one has them.

    Attributes and name are the old ones unless others are given.
    """
    known = attributes_of(old) if attributes is None else attributes
    count = len(old.regions)
    new = create(name or old.name, operands, results, known, count, before=old, successors=list(old.successors))
    for before, after in zip(old.regions, new.regions, strict=True):
        for block in list(before.blocks):
            block.append_to(after)
    return new


def replace(old: ir.Operation, new: ir.Operation) -> None:
    """Gives the uses of `old`'s results to `new`'s and erases `old`."""
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.erase()


def ended(region: ir.Region, values: Sequence[ir.Value], at: ir.Operation) -> ir.Operation:
    """The end of a new block in a region of `scf`, at the location of an op: it yields the values."""
    with ir.InsertionPoint(region.blocks.append()), at.location:
        return ir.Operation.create("scf.yield", operands=values).operation


def branch(
    condition: ir.Value, kinds: Sequence[ir.Type], values: Sequence[ir.Value], before: ir.Operation
) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
    """An `scf.if` with results of these types, and the ends of both ways, which yield the values until they are given others."""
    made = create("scf.if", [condition], kinds, regions=2, before=before)
    true, false = (ended(region, values, before) for region in made.regions)
    return made, true, false


def loop(
    bounds: Sequence[ir.Value], carried: Sequence[ir.Value], before: ir.Operation
) -> tuple[ir.Operation, ir.Value, Sequence[ir.Value], ir.Operation]:
    """An `scf.for` that carries values: with the number of the iteration, what is carried inside, and the end, which yields that
    until it is given others."""
    types = [value.type for value in carried]
    made = create("scf.for", [*bounds, *carried], types, regions=1, before=before)
    kinds = [bounds[0].type, *types]
    position, *inside = made.regions[0].blocks.append(*kinds, arg_locs=[before.location] * len(kinds)).arguments
    with ir.InsertionPoint(made.regions[0].blocks[0]), before.location:
        return made, position, inside, ir.Operation.create("scf.yield", operands=inside).operation


def let_read(op: ir.Operation, others: Mapping[ir.Value, ir.Value]) -> None:
    """Has an op and its regions read other values."""
    own = [(op, i, value) for i, value in enumerate(op.operands)]
    for reader, i, value in (*own, *captured_operands(op)):
        if value in others:
            reader.operands[i] = others[value]


def clone_with(op: ir.Operation, mapping: dict[ir.Value, ir.Value], point: ir.InsertionPoint) -> ir.Operation:
    """Clones an op, with what it and its regions read replaced by `mapping`, and adds its results to the mapping."""
    clone = op.clone(point)
    let_read(clone, mapping)
    mapping.update(zip(op.results, clone.results, strict=True))
    return clone


def constant(value: float, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A number of a type, or a vector of the same ones."""
    element = scalar_of(kind)
    number: ir.Attribute = (
        ir.FloatAttr.get(element, value)
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    if isinstance(kind, ir.VectorType):
        number = ir.DenseElementsAttr.get_splat(kind, number)
    return create("arith.constant", [], [kind], {"value": number}, before=before).results[0]


def compared(how: str, a: ir.Value, b: ir.Value, before: ir.Operation) -> ir.Value:
    """Whether a number is as another one, or each of a vector; `how` as the text of `arith.cmpi` or `arith.cmpf` has it.

    Such as `ult`, which of integers is "less, without signs", and of floats "less, or one of them is no number".
    """
    name, known = (
        ("arith.cmpf", _HOW_FLOATS) if isinstance(scalar_of(a.type), ir.FloatType) else ("arith.cmpi", PREDICATES)
    )
    kind = like_vector(a.type, ir.IntegerType.get_signless(1))
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), known.index(how))
    return create(name, [a, b], [kind], {"predicate": predicate}, before=before).results[0]


def index_cast(value: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """An index as an integer of a type, or the other way round."""
    return create("arith.index_cast", [value], [kind], before=before).results[0]


def cast_to(value: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A tensor or memref by a type that says more or less of the same sizes and layout; as it is where that is its type."""
    if value.type == kind:
        return value
    return create("tensor.cast" if is_any_tensor(kind) else "memref.cast", [value], [kind], before=before).results[0]


def index_constant(value: int, before: ir.Operation) -> ir.Value:
    return constant(value, ir.IndexType.get(), before)


def dim(tensor: ir.Value, position: int, before: ir.Operation) -> ir.Value:
    """`tensor.dim` or `memref.dim` of a value, or a constant where the size is static."""
    size = shape_of(tensor.type)[position]
    if size is not None:
        return index_constant(size, before)
    name = "tensor.dim" if isinstance(tensor.type, ir.RankedTensorType) else "memref.dim"
    return create(name, [tensor, index_constant(position, before)], [ir.IndexType.get()], before=before).results[0]


def dynamic_dims(value: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """The dynamic sizes of a tensor or memref, as index values."""
    return [dim(value, i, before) for i, size in enumerate(shape_of(value.type)) if size is None]


def alloc(memref: ir.Type, sizes: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """A `memref.alloc` of a type with its dynamic sizes."""
    attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0])}
    return create("memref.alloc", sizes, [memref], attributes, before=before).results[0]


def empty_like(value: ir.Value, before: ir.Operation) -> ir.Value:
    """A `tensor.empty` with a value's type and sizes."""
    return create("tensor.empty", dynamic_dims(value, before), [value.type], before=before).results[0]


def empty_of(kind: ir.Type, sizes_of: ir.Value, before: ir.Operation) -> ir.Value:
    """A `tensor.empty` of a type, its dynamic sizes those of another tensor."""
    sizes = [dim(sizes_of, i, before) for i, size in enumerate(shape_of(kind)) if size is None]
    return create("tensor.empty", sizes, [kind], before=before).results[0]


def fill(scalar: ir.Value, destination: ir.Value, before: ir.Operation) -> ir.Value:
    """Gives each element of a destination a scalar; the result, or the memref that is written."""
    op, end = structured([], [destination], before)
    end.operands[0] = scalar
    return op.results[0] if len(op.results) else destination


def elementwise_copy(source: ir.Value, destination: ir.Value, before: ir.Operation) -> ir.Operation:
    """A `linalg.generic` that gives each element of a destination that of a source."""
    op, end = structured([source], [destination], before)
    end.operands[0] = op.regions[0].blocks[0].arguments[0]
    return op


def structured(
    inputs: Sequence[ir.Value],
    inits: Sequence[ir.Value],
    before: ir.Operation,
    maps: Sequence[ir.AffineMap] | None = None,
) -> tuple[ir.Operation, ir.Operation]:
    """A `linalg.generic` with parallel loops only, and its yield, which passes on what the inits hold.

    Each operand is read or written at the place of the loops, and one without dims is the same at all places, unless `maps` says
    for each of them where.
    """
    operands, rank = [*inputs, *inits], len(shape_of(inits[0].type))
    if maps is None:
        identity, none = ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, [])
        maps = [identity if shape_of(value.type) else none for value in operands]
    attributes: dict[str, ir.Attribute] = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(inits)]),
    }
    results = [init.type for init in inits if isinstance(init.type, ir.RankedTensorType)]
    op = create("linalg.generic", operands, results, attributes, regions=1, before=before)
    types = [cast(Any, value.type).element_type for value in operands]
    block = op.regions[0].blocks.append(*types, arg_locs=[before.location] * len(types))
    with ir.InsertionPoint(block), before.location:
        end = ir.Operation.create("linalg.yield", operands=list(block.arguments)[len(inputs) :]).operation
    return op, end


def integers(values: Sequence[int]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(list(values))


def with_values(entries: Iterable[int | None], values: Iterable[ir.Value]) -> list[int | ir.Value]:
    """Numbers, with the next of the values wherever there is none."""
    rest = iter(values)
    return [next(rest) if entry is None else entry for entry in entries]


def mixed_sizes(value: ir.Value, before: ir.Operation) -> list[int | ir.Value]:
    """The sizes of a tensor or memref: numbers, and index values where its type leaves them open."""
    return with_values(shape_of(value.type), dynamic_dims(value, before))


def slice_parts(
    given: Sequence[ir.Value],
    offsets: Sequence[int | ir.Value],
    sizes: Sequence[int | ir.Value],
    strides: Sequence[int | ir.Value] | None = None,
) -> tuple[list[ir.Value], dict[str, ir.Attribute]]:
    """The operands and attributes of an op on a slice, or on memory that is seen otherwise, behind the operands `given`.

    Strides are 1 by default.
    """
    groups = offsets, sizes, [1] * len(sizes) if strides is None else strides
    dynamic = [[each for each in group if isinstance(each, ir.Value)] for group in groups]
    attributes = {
        name: integers([DYNAMIC if isinstance(each, ir.Value) else each for each in group])
        for name, group in zip(SLICE, groups, strict=True)
    }
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([*[1] * len(given), *map(len, dynamic)])
    return [*given, *(each for group in dynamic for each in group)], attributes


def sliced(
    name: str,
    given: Sequence[ir.Value],
    kind: ir.Type,
    offsets: Sequence[int | ir.Value],
    sizes: Sequence[int | ir.Value],
    before: ir.Operation,
    *,
    strides: Sequence[int | ir.Value] | None = None,
) -> ir.Value:
    """The result of such an op (`slice_parts`), in front of another one."""
    operands, attributes = slice_parts(given, offsets, sizes, strides)
    return create(name, operands, [kind], attributes, before=before).results[0]


def reshaped(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """The first elements of a contiguous memref as one of another static shape."""
    sizes, strides = (cast("tuple[int, ...]", each) for each in (shape_of(kind), row_major(shape_of(kind))))
    return sliced("memref.reinterpret_cast", [memref], kind, [0], sizes, before, strides=strides)


def extract_along(
    value: ir.Value,
    kind: ir.Type,
    position: int,
    first: int | ir.Value,
    before: ir.Operation,
    length: ir.Value | None = None,
) -> ir.Value:
    """The part of a tensor that begins at `first` in a dim, of a type; of a `length` there, where the type leaves it open."""
    sizes = [
        size if size is not None else length if at == position and length is not None else dim(value, at, before)
        for at, size in enumerate(shape_of(kind))
    ]
    return sliced("tensor.extract_slice", [value], kind, begins(len(sizes), position, first), sizes, before)


def insert_along(
    part: ir.Value, whole: ir.Value, position: int, first: int | ir.Value, before: ir.Operation
) -> ir.Value:
    """A tensor with a part that begins at `first` in a dim."""
    sizes = mixed_sizes(part, before)
    return sliced("tensor.insert_slice", [part, whole], whole.type, begins(len(sizes), position, first), sizes, before)


def begins(rank: int, position: int, first: int | ir.Value) -> list[int | ir.Value]:
    """The offsets of a part that begins at `first` in a dim, and at 0 in the others."""
    return [first if at == position else 0 for at in range(rank)]


def expanded(
    value: ir.Value, lengths: Iterable[int], sizes: Sequence[int | ir.Value], before: ir.Operation
) -> ir.Value:
    """A tensor of these sizes with the same elements: each dim of the value is so many neighbouring dims of it."""
    known = [size if isinstance(size, int) else None for size in sizes]
    attributes = {"reassociation": _reassociation(lengths), "static_output_shape": integers(static_entries(known))}
    operands = [value, *(size for size in sizes if isinstance(size, ir.Value))]
    kind = tensor_with(known, value.type)
    return create("tensor.expand_shape", operands, [kind], attributes, before=before).results[0]


def expand_dim(value: ir.Value, position: int, sizes: Sequence[int | ir.Value], before: ir.Operation) -> ir.Value:
    """A tensor with one of its dims as several, whose sizes have that product."""
    wide, lengths = list[int | ir.Value](), list[int]()
    for at, size in enumerate(shape_of(value.type)):
        here = sizes if at == position else [dim(value, at, before) if size is None else size]
        wide += here
        lengths.append(len(here))
    return expanded(value, lengths, wide, before)


def collapsed(value: ir.Value, lengths: Sequence[int], before: ir.Operation) -> ir.Value:
    """A tensor with the same elements: each of its dims is so many neighbouring dims of the value."""
    rest = iter(shape_of(value.type))
    groups = [list(islice(rest, length)) for length in lengths]
    sizes = [None if None in group else prod(cast("list[int]", group)) for group in groups]
    attributes = {"reassociation": _reassociation(lengths)}
    kind = tensor_with(sizes, value.type)
    return create("tensor.collapse_shape", [value], [kind], attributes, before=before).results[0]


def _reassociation(lengths: Iterable[int]) -> ir.Attribute:
    """Which dims belong together: so many of them, group by group."""
    i64, places = ir.IntegerType.get_signless(64), count()
    return ir.ArrayAttr.get(
        [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, place) for place in islice(places, length)]) for length in lengths]
    )
