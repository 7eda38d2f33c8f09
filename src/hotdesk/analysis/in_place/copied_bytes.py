"""How many bytes bufferization would copy in a function, loops counted several times: what choices are compared by."""

from __future__ import annotations

from collections.abc import Iterator

from hotdesk.analysis.in_place.cost_of_copy import cost_of_copy, loops_around
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE, within
from hotdesk.analysis.tensors.program import NOT_A_TENSOR
from hotdesk.ir.signature import signature


def copied_bytes(analysis: InPlaceAnalysis) -> dict[int, int]:
    """The bytes that would be copied, by the number of the innermost loop around, or -1; what enters a loop counts for that."""
    function = analysis.function
    found: dict[int, int] = {}
    for value, block, home in (*_overwritten(analysis), *_passed(analysis)):
        loop = next(iter(loops_around(function, home)), -1)
        found[loop] = found.get(loop, 0) + cost_of_copy(function, value, block)
    return found


def copied_with_results(analysis: InPlaceAnalysis) -> int:
    """The bytes that would be copied in a function: results and slices too, and what is inserted."""
    function = analysis.function
    results = [(function.end.operands[number], function.end.block) for number in copied_results(analysis)]
    slices = [(function.ops[number].results[0], function.ops[number].block) for number in analysis.slices]
    ends = [cost_of_copy(function, value, block) for value, block in (*results, *slices)]
    return sum(ends) + sum(copied_bytes(analysis).values()) + sum(_inserted(analysis))


def _inserted(analysis: InPlaceAnalysis) -> Iterator[int]:
    """The bytes of what is copied to where it is inserted, since it lies elsewhere."""
    function, places, readers = analysis.function, analysis.places, analysis.readers
    for op in function.ops:
        part = op.facts.part
        if part is None or part.source is None:
            continue
        source, container = op.operands[part.source], function.insertions.get(op.number)
        written = readers.part(op)
        there = places.locations(op.results[0] if container is None else container)
        if places.locations(source) != tuple((place, within(extent, written)) for place, extent in there):
            yield cost_of_copy(function, source, op.block)


def copied_results(analysis: InPlaceAnalysis) -> list[int]:
    """The results that are copied to memory of their own at the end, by number, if none may be an argument's memory.

    What has no contents is not, nor is what the function gives back and made in places of its own, whichever of them it is. New
    contents of state are not where they lie in its memory.
    """
    function, places, readers = analysis.function, analysis.places, analysis.readers
    states = {
        formal.state: argument
        for formal, argument in zip(signature(function.function).arguments, function.arguments, strict=True)
        if formal.state is not None
    }
    taken: set[int] = set()
    found: list[int] = []
    for number, value in enumerate(function.end.operands):
        if value == NOT_A_TENSOR or readers.root[value] in readers.undefined:
            continue
        locations = places.locations(value)
        if number in states and locations == ((places.find(states[number]), WHOLE),):
            continue
        one = function.gives_back or (len(locations) == 1 and places.stay(locations[0][0]))
        if one and all(
            extent is WHOLE and _is_own(places, place) and place not in taken for place, extent in locations
        ):
            taken.update(place for place, _ in locations)
        else:
            found.append(number)
    return found


def _is_own(places: Places, place: int) -> bool:
    """Whether a place is memory that is made in the function and may be written."""
    return place not in places.read_only and not places.is_given(place)


def _overwritten(analysis: InPlaceAnalysis) -> list[tuple[int, int, int]]:
    """The operands that are copied because they are overwritten, each with the block in which they are, twice."""
    function = analysis.function
    copied = [(function.ops[d.op], d.operand) for d in analysis.decisions if not (d.in_place or d.fresh)]
    return [(op.operands[operand], op.block, op.block) for op, operand in copied if op.facts.needs(operand)]


def _passed(analysis: InPlaceAnalysis) -> list[tuple[int, int, int]]:
    """What control flow copies, each with the block of the op that does, and that which it enters or comes back to."""
    function = analysis.function
    copied = [edge for edge, conflict in analysis.copies.items() if conflict is not None]
    return [(edge.source, function.ops[edge.op].block, function.values[edge.target].block) for edge in copied]
