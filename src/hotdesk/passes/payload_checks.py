"""Assertions in the region of a structured op that becomes loops: each stores its code in the status word when it fails.

    linalg.generic ins(%i) outs(%y)          %most = linalg.generic {reduction} ins(%i) { max(%most, %ok ? 0 : code) }
      { cf.assert %ok; load %x[%i, j] }  ->  store %most in the status word unless it is 0
                                             linalg.generic ins(%i) outs(%y) { load %x[min(%i, size - 1), j] }

The checks are loops of their own where they can be (`can_check_apart`): over those loops alone that they depend on, and without
branches in the loops that are left, which vectors compute and threads share. Else, as where one asks for the number of a loop
(`linalg.index`), each stands where it stood, and what is read behind it (`memref.load`) is guarded by it. Either way a failed one
neither ends the process nor reads out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.graphs import reached
from hotdesk.ir.building import clone_with, compared, constant, create, dim, ended, index_constant
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defining_op, integer_of, nested_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.generics import GENERIC, NUMBER
from hotdesk.models.linalg import inputs_of
from hotdesk.models.memref import LOAD

UNROLLED = 8
"""How often loops may run together that checks ask for the numbers of, and that these are written out for."""


def has_checks(op: ir.Operation) -> bool:
    """Whether there are assertions in the regions of an op."""
    return any(nested.name == ASSERT for nested in nested_ops(op))


def can_check_apart(op: ir.Operation, *, numbers: bool = False) -> bool:
    """Whether the checks of an op on memrefs can be loops of their own.

    They can be iff its region is straight, each depends on inputs alone, which are read at numbers of loops or constants, and no
    load is of something that has no element. With `numbers`, also on the numbers of loops that these inputs are read by, and of
    others that run `UNROLLED` times at most, such as those over the columns of a scatter's indices.
    """
    if op.name != GENERIC or any(len(each.regions) for each in _body(op)):
        return False
    if not all(_is_from_data(each.operands[0], op) for each in _body(op) if each.name == ASSERT):
        return False
    if any(shape_of(load.operands[0].type)[place] == 0 for load, place in _places_from_data(op)):
        return False
    needed = set[ir.Value]().union(*(_needed(each.operands[0], op) for each in _body(op) if each.name == ASSERT))
    read = [i for i, argument in enumerate(op.regions[0].blocks[0].arguments) if argument in needed]
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    plain = (ir.AffineDimExpr, ir.AffineConstantExpr)
    if any(i >= inputs_of(op) for i in read) or not all(isinstance(at, plain) for i in read for at in maps[i].results):
        return False
    asked = {integer_of(each, "dim") for each in _body(op) if each.name == NUMBER and each.results[0] in needed}
    if not numbers or not asked:
        return not asked
    return bool(read) and _times_unrolled(op, asked - {loop for i in read for loop in _loops(maps[i])}) is not None


def check_apart(op: ir.Operation, status: ir.Value, assertion_code: Callable[[ir.Operation], int]) -> None:
    """Makes loops of the checks of an op in front of it (`can_check_apart`); of several that fail the largest code is told."""
    word = ir.IntegerType.get_signless(32)
    sizes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
    local = create("memref.alloca", [], [ir.MemRefType.get([], word)], sizes, before=op).results[0]
    none = constant(0, word, op)
    create("memref.store", [none, local], [], before=op)
    for checks in _by_loops(op):
        _checking_loops(op, checks, local, assertion_code)
    found = create("memref.load", [local], [word], before=op).results[0]
    failed = create("scf.if", [compared("ne", found, none, op)], [], regions=2, before=op)
    create("memref.store", [found, status], [], before=ended(failed.regions[0], [], op))
    for each in _body(op):
        if each.name == ASSERT:
            each.erase()
    if inputs_of(op) == len(op.operands):  # checks alone
        op.erase()
    else:
        _read_inside(op)


def needed_by_checks(op: ir.Operation) -> tuple[list[int], list[ir.Value]]:
    """The operands whose elements the checks in an op depend on, by number, and the values from outside that they do."""
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    needed = {value: None for each in _body(op) if each.name == ASSERT for value in _needed(each.operands[0], op)}
    outside = [value for value in needed if value not in arguments and _is_outside(value, block)]
    return [i for i, argument in enumerate(arguments) if argument in needed], outside


def _is_outside(value: ir.Value, block: ir.Block) -> bool:
    maker = defining_op(value)
    return maker is None or maker.block != block


def split_checks(op: ir.Operation, others: Mapping[ir.Value, ir.Value], before: ir.Operation) -> None:
    """Makes an op of its own, in front of another one, of the checks of an op, which keeps none (`can_check_apart` by `numbers`).

    The new op reads `others` in place of values, and writes nothing. It has the checks once for each number of a loop that they
    ask for and by which nothing is read.
    """
    block, (inputs, _) = op.regions[0].blocks[0], needed_by_checks(op)
    read = [cast("list[ir.AffineMap]", indexing_maps(op))[i] for i in inputs]
    loops = sorted({loop for each in read for loop in _loops(each)})
    count, maps = _of_loops_read(read)
    attributes = _generic_attributes(maps, count, "parallel", (len(inputs), 0))
    operands = [others.get(op.operands[i], op.operands[i]) for i in inputs]
    given = [block.arguments[i] for i in inputs]
    with op.location:
        made = create(GENERIC, operands, [], attributes, regions=1, before=before)
        inside = made.regions[0].blocks.append(*(each.type for each in given), arg_locs=[op.location] * len(given))
        with ir.InsertionPoint(inside):
            end = ir.Operation.create("linalg.yield").operation
    needed = set[ir.Value]().union(*(_needed(each.operands[0], op) for each in _body(op) if each.name == ASSERT))
    asked = {integer_of(each, "dim") for each in _body(op) if each.name == NUMBER and each.results[0] in needed}
    unrolled = sorted(asked.difference(loops))
    for numbers in product(*(range(times) for times in _times_unrolled(op, unrolled) or ())):
        mapping = {**others, **dict(zip(given, inside.arguments, strict=True))}
        known = dict(zip(unrolled, numbers, strict=True))
        for each in _body(op):
            if each.name != ASSERT and not any(result in needed for result in each.results):
                continue
            loop = integer_of(each, "dim") if each.name == NUMBER else None
            if loop in known:
                mapping[each.results[0]] = index_constant(known[loop], end)
                continue
            clone = clone_with(each, mapping, ir.InsertionPoint(end))
            if loop is not None:
                place = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loops.index(loop))
                clone.attributes["dim"] = place
    for each in _body(op):
        if each.name == ASSERT:
            each.erase()


def _times_unrolled(op: ir.Operation, loops: Iterable[int]) -> tuple[int, ...] | None:
    """How often loops run; None if that is more than `UNROLLED` times together, or not known."""
    times = tuple(_times(op, loop) for loop in loops)
    known = tuple(each for each in times if each is not None)
    return known if len(known) == len(times) and prod(known) <= UNROLLED else None


def _times(op: ir.Operation, loop: int) -> int | None:
    """How often a loop runs; None if that is not known."""
    for operand, places in zip(op.operands, cast("list[ir.AffineMap]", indexing_maps(op)), strict=True):
        for size, place in zip(shape_of(operand.type), cast(Any, places.results), strict=True):
            if size is not None and isinstance(place, ir.AffineDimExpr) and place.position == loop:
                return size
    return None


def _of_loops_read(maps: Sequence[ir.AffineMap]) -> tuple[int, list[ir.AffineMap]]:
    """How many loops these maps read, and the maps over those alone."""
    loops = sorted({loop for each in maps for loop in _loops(each)})
    numbers = [loops.index(i) if i in loops else None for i in range(maps[0].n_dims if maps else 0)]
    expressions = [ir.AffineExpr.get_constant(0) if i is None else ir.AffineExpr.get_dim(i) for i in numbers]
    less = ir.AffineMap.get(len(loops), 0, expressions)
    places = [[cast(Any, each).compose(less) for each in old.results] for old in maps]
    return len(loops), [ir.AffineMap.get(len(loops), 0, each) for each in places]


def _generic_attributes(
    maps: Sequence[ir.AffineMap], loops: int, iterator: str, operands: tuple[int, int]
) -> dict[str, ir.Attribute]:
    return {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{iterator}>")] * loops),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(list(operands)),
    }


def _body(op: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in op.regions[0].blocks[0].operations]


def _is_from_data(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value in the region depends on an element of memory, not on numbers of loops alone."""
    needed = _needed(value, op)
    if any(argument in needed for argument in op.regions[0].blocks[0].arguments):
        return True
    return any(maker.name == LOAD for maker in map(defining_op, needed) if maker is not None)


def _places_from_data(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The loads in the region, with each dim whose place depends on data."""
    loads = [each for each in _body(op) if each.name == LOAD]
    return [(load, i) for load in loads for i, place in enumerate(list(load.operands)[1:]) if _is_from_data(place, op)]


def _needed(value: ir.Value, op: ir.Operation) -> set[ir.Value]:
    """A value in the region and those that it depends on, as far as what the region captures."""
    block = op.regions[0].blocks[0]

    def operands(each: ir.Value) -> Iterable[ir.Value]:
        maker = defining_op(each)
        return maker.operands if maker is not None and maker.block == block else ()

    return {*reached([value], operands)}


def _by_loops(op: ir.Operation) -> list[list[ir.Operation]]:
    """The checks in the region, those together that depend on the same loops and the same loads.

    Loops that load from what has no element are not run (`_read_inside`): the check that fails then is in loops of its own.
    """
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    loads = [each.results[0] for each in _body(op) if each.name == LOAD]
    found: dict[tuple[frozenset[int], frozenset[ir.Value]], list[ir.Operation]] = {}
    for check in (each for each in _body(op) if each.name == ASSERT):
        needed = _needed(check.operands[0], op)
        read = [i for i, argument in enumerate(op.regions[0].blocks[0].arguments) if argument in needed]
        loops = frozenset(loop for i in read for loop in _loops(maps[i]))
        found.setdefault((loops, frozenset(needed.intersection(loads))), []).append(check)
    return list(found.values())


def _loops(places: ir.AffineMap) -> list[int]:
    return [each.position for each in cast(Any, places.results) if isinstance(each, ir.AffineDimExpr)]


def _checking_loops(
    op: ir.Operation,
    checks: Sequence[ir.Operation],
    local: ir.Value,
    assertion_code: Callable[[ir.Operation], int],
) -> None:
    """Loops that leave in `local` the largest of the codes of checks that fail, or what was there."""
    block = op.regions[0].blocks[0]
    needed = set[ir.Value]().union(*(_needed(each.operands[0], op) for each in checks))
    read = [i for i, argument in enumerate(block.arguments) if argument in needed]
    loops, maps = _of_loops_read([cast("list[ir.AffineMap]", indexing_maps(op))[i] for i in read])
    attributes = _generic_attributes([*maps, ir.AffineMap.get(loops, 0, [])], loops, "reduction", (len(read), 1))
    operands = [*(op.operands[i] for i in read), local]
    checking = create("linalg.generic", operands, [], attributes, regions=1, before=op)
    word = ir.IntegerType.get_signless(32)
    kinds = [*(block.arguments[i].type for i in read), word]
    inside = checking.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    *given, worst = inside.arguments
    with ir.InsertionPoint(inside), op.location:
        end = ir.Operation.create("linalg.yield", operands=[worst]).operation
    mapping: dict[ir.Value, ir.Value] = dict(zip((block.arguments[i] for i in read), given, strict=True))
    for each in _body(op):
        if each in checks:
            holds = mapping.get(each.operands[0], each.operands[0])
            code, none = (constant(number, word, end) for number in (assertion_code(each), 0))
            failed = create("arith.select", [holds, none, code], [word], before=end).results[0]
            worst = create("arith.maxsi", [worst, failed], [word], before=end).results[0]
        elif any(result in needed for result in each.results):
            clone_with(each, mapping, ir.InsertionPoint(end))
    end.operands[0] = worst
    _read_inside(checking)


def _read_inside(op: ir.Operation) -> None:
    """Has loads at places from data read the last element for all beyond it, and does nothing where there is none."""
    elements: list[ir.Value] = []
    for load, i in _places_from_data(op):
        memref, place = load.operands[0], load.operands[1 + i]
        if shape_of(memref.type)[i] is None:
            elements.append(compared("ne", dim(memref, i, op), index_constant(0, op), op))
        size = dim(memref, i, load)
        last = create("arith.subi", [size, index_constant(1, load)], [size.type], before=load).results[0]
        load.operands[1 + i] = create("arith.minui", [place, last], [size.type], before=load).results[0]
    if elements:
        both = elements[0]
        for each in elements[1:]:
            both = create("arith.andi", [both, each], [both.type], before=op).results[0]
        whole = create("scf.if", [both], [], regions=2, before=op)
        op.move_before(ended(whole.regions[0], [], op))


def replace_checks(op: ir.Operation, status: ir.Value, assertion_code: Callable[[ir.Operation], int]) -> None:
    """Replaces the `cf.assert` in the regions of an op, and guards the loads behind each."""
    for region in op.regions:
        for block in region.blocks:
            _replace_in(block, None, status, assertion_code)


def _replace_in(
    block: ir.Block, holds: ir.Value | None, status: ir.Value, assertion_code: Callable[[ir.Operation], int]
) -> None:
    """Those of a block, whose loads are guarded by `holds` as well; what one branch has asserted guards no other."""
    for each in list(block.operations):
        nested = each.operation
        if nested.name == ASSERT:
            condition = nested.operands[0]
            _store_unless(condition, status, assertion_code(nested), nested)
            holds = (
                condition
                if holds is None
                else create("arith.andi", [holds, condition], [condition.type], before=nested).results[0]
            )
            nested.erase()
        elif nested.name == LOAD and holds is not None:
            _guard(nested, holds)
        else:
            for region in nested.regions:
                for inner in region.blocks:
                    _replace_in(inner, holds, status, assertion_code)


def _store_unless(condition: ir.Value, status: ir.Value, code: int, before: ir.Operation) -> None:
    i1, i32 = condition.type, ir.IntegerType.get_signless(32)
    true = constant(1, i1, before)
    fails = create("arith.xori", [condition, true], [i1], before=before).results[0]
    branch = create("scf.if", [fails], [], regions=2, before=before)
    block = branch.regions[0].blocks.append()
    with ir.InsertionPoint(block), before.location:
        number = ir.Operation.create(
            "arith.constant", results=[i32], attributes={"value": ir.IntegerAttr.get(i32, code)}
        )
        ir.Operation.create("memref.store", operands=[number.results[0], status])
        ir.Operation.create("scf.yield")


def _guard(load: ir.Operation, holds: ir.Value) -> None:
    element = load.results[0].type
    branch = create("scf.if", [holds], [element], regions=2, before=load)
    load.results[0].replace_all_uses_with(branch.results[0])
    then = branch.regions[0].blocks.append()
    with ir.InsertionPoint(then), load.location:
        ir.Operation.create("scf.yield", operands=[load.results[0]])
    load.move_before(then.operations[0].operation)
    otherwise = branch.regions[1].blocks.append()
    with ir.InsertionPoint(otherwise), load.location:
        number = _zero(element)
        ir.Operation.create("scf.yield", operands=[number.results[0]])


def _zero(element: ir.Type) -> ir.Operation:
    """The constant 0 at the insertion point."""
    if isinstance(element, ir.ComplexType):
        part = ir.FloatAttr.get(element.element_type, 0.0)
        return ir.Operation.create(
            "complex.constant", results=[element], attributes={"value": ir.ArrayAttr.get([part, part])}
        ).operation
    zero = ir.FloatAttr.get(element, 0.0) if _is_float(element) else ir.IntegerAttr.get(element, 0)
    return ir.Operation.create("arith.constant", results=[element], attributes={"value": zero}).operation


def _is_float(element: ir.Type) -> bool:
    return str(element).startswith(("f", "bf"))
