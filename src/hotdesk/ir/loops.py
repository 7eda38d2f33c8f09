"""Loops over ranges of iterations: the bounds of those that are there, and new ones, one in the other or parallel.

scf.for %i = %a to %b step 4    ->    LoopBounds(%a, %b, 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.building import loop as begun_loop
from hotdesk.ir.types import DYNAMIC
from hotdesk.ir.walking import constant_of, int_array


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """Where one dimension of a loop begins and ends, and its step: each an integer or a value."""

    lower: int | ir.Value
    upper: int | ir.Value
    step: int | ir.Value

    @property
    def trips(self) -> int | None:
        """How many iterations it has; None where that is known only when it runs."""
        match self:
            case LoopBounds(int(lower), int(upper), int(step)) if step > 0:
                return max(0, -((lower - upper) // step))
            case _:
                return None

    @classmethod
    def of(cls, lower: ir.Value, upper: ir.Value, step: ir.Value) -> LoopBounds:
        """Bounds that values tell, as numbers where these are constants."""
        return cls(_number(lower), _number(upper), _number(step))


def bounds_of(loop: ir.Operation) -> list[LoopBounds]:
    """The bounds of each dimension of a parallel loop."""
    segments = int_array(loop.attributes["operandSegmentSizes"])
    groups: list[list[int | ir.Value]] = []
    if loop.name == "scf.parallel":
        values, rank = [_number(value) for value in loop.operands], segments[0]
        groups = [values[rank * i : rank * (i + 1)] for i in range(3)]
    else:
        rest = iter(list(loop.operands))
        for name in ("staticLowerBound", "staticUpperBound", "staticStep"):
            entries = int_array(loop.attributes[name])
            groups.append([_number(next(rest)) if entry == DYNAMIC else entry for entry in entries])
    return [LoopBounds(*each) for each in zip(*groups, strict=True)]


def for_bounds(loop: ir.Operation) -> LoopBounds:
    """The bounds of an `scf.for`."""
    return LoopBounds.of(*list(loop.operands)[:3])


def _number(value: ir.Value) -> int | ir.Value:
    known = constant_of(value)
    return known if isinstance(known, int) else value


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
