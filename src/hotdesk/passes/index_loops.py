"""Small builders for loops over ranges of iterations: index arithmetic, loops one in the other, and parallel ones."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.shared_loops import LoopBounds
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.building import loop as begun_loop


def index_of(name: str, *operands: int | ir.Value, before: ir.Operation) -> ir.Value:
    """A result of index arithmetic; `name` is without its dialect, `arith`."""
    values = [as_value(each, before) for each in operands]
    return create(f"arith.{name}", values, [ir.IndexType.get()], before=before).results[0]


def as_value(number: int | ir.Value, before: ir.Operation) -> ir.Value:
    return number if isinstance(number, ir.Value) else index_constant(number, before)


def trips_of(bounds: LoopBounds, before: ir.Operation) -> int | ir.Value:
    """How many iterations a dimension has."""
    if bounds.trips is not None:
        return bounds.trips
    length = index_of("subi", bounds.upper, bounds.lower, before=before)
    return index_of("maxsi", index_of("ceildivsi", length, bounds.step, before=before), 0, before=before)


def place_of(number: ir.Value, bounds: LoopBounds, before: ir.Operation) -> ir.Value:
    """Where the iteration with that number, which counts from 0, is in a dimension."""
    if bounds.step != 1:
        number = index_of("muli", number, bounds.step, before=before)
    return number if bounds.lower == 0 else index_of("addi", number, bounds.lower, before=before)


def nest(
    dims: Sequence[LoopBounds], carried: Sequence[ir.Value], before: ir.Operation
) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value], ir.Operation]:
    """Loops, one in the other, in front of an op: the place that they are at, what they carry inside and return, and the end of
    the innermost body, which yields what is carried until it is given others."""
    places, inside = list[ir.Value](), list(carried)
    results: list[ir.Value] = list(carried)
    end, is_outermost = before, True
    for each in dims:
        bounds = [as_value(number, end) for number in (each.lower, each.upper, each.step)]
        made, place, arguments, inner = begun_loop(bounds, inside, end)
        if is_outermost:
            results = list[ir.Value](made.results)
        else:
            yields(end, made.results)
        places.append(place)
        inside, end, is_outermost = list(arguments), inner, False
    return places, inside, results, end


def yields(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Has the end of a body yield other values."""
    for number, value in enumerate(values):
        end.operands[number] = value


def parallel(count: int | ir.Value, before: ir.Operation) -> tuple[ir.Operation, ir.Value, ir.Operation]:
    """A parallel loop from 0 to `count`: with the number of an iteration, and the end of the body."""
    bounds = [as_value(number, before) for number in (0, count, 1)]
    segments: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 1, 0])}
    made = create("scf.parallel", bounds, [], segments, regions=1, before=before)
    block = made.regions[0].blocks.append(ir.IndexType.get(), arg_locs=[made.location])
    return made, block.arguments[0], ir.Operation.create("scf.reduce", ip=ir.InsertionPoint(block)).operation
