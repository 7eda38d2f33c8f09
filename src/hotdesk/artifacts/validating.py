"""Whether what a file says of a program goes together: every place, offset, size and number of another record is there.

Numbered as they are checked; each is refused by an ArtifactError that names the record.

1. A formula is on symbols that inputs give, and none is negative by its number.
2. A function's buffers are in use within its ops; its results, state, donated inputs and windows are arguments of it.
3. Constants lie in their section, and fill global buffers, all of them.
4. A fixed plan places every allocation, and the planner's own check finds no fault in it (`plans.py` makes that before the first
   run). A stacking is of all allocations, each on some before it.
5. Every argument of `@main` is one input, weight, prepared value or result, and has the bytes that this one has.
6. Weights and prepared values that are inside lie in their section.
7. A result of sizes that only the run knows is a number in the program, and something delivers such results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import cast

from hotdesk.artifacts.code import CALLED
from hotdesk.artifacts.container import Container
from hotdesk.artifacts.formulas import Formula, Formulas
from hotdesk.artifacts.records import (
    BufferUseRecord,
    FunctionRecord,
    PlanRecord,
    ProgramRecord,
    Ref,
    SpecRecord,
    StackingRecord,
    WeightRecord,
)
from hotdesk.artifacts.weights import ITEM_BYTES
from hotdesk.errors import ArtifactError
from hotdesk.planning.problem.numbers import ALIGNMENT, LARGEST_TOTAL

_LEAST_SOURCE = len('["","",""]')


def validate(record: ProgramRecord, container: Container, table: Formulas) -> None:
    """Raises ArtifactError for records that do not go together. See the module docstring."""
    for kind, specs in (("input", record.inputs), ("result", record.results)):
        for spec in specs:
            _spec(spec, f"{kind} '{spec.name}'", table)
    constants = container.section("constants").bytes if "constants" in container.sections else 0
    _steps(record, container)
    _function(record.main, "main", constants, table)
    if record.prepare is not None:
        _function(record.prepare, "prepare", constants, table)
        _needs(record.prepare.plans.fixed is not None, "`prepare`", "sizes that are numbers", "others")
    for check in record.checks:
        _formula(check.relation, "a check of sizes", table)
    for low, high in record.constraints.values():
        _needs(
            low >= 0 and (high is None or low <= high), "the range of a size", "one from 0 or more", f"{low} to {high}"
        )
    _arguments(record)
    _inside(record, container)
    _delivered(record)


def _steps(record: ProgramRecord, container: Container) -> None:
    """What is as long as a function has ops is no longer than the file."""
    steps = [each.steps for each in (record.main, record.prepare) if each is not None]
    room = container.section("sources").bytes // _LEAST_SOURCE
    _needs(min(steps) >= 0 and sum(steps) <= room, "the number of ops", f"no more than {room:,}", sum(steps))


def size_of(size: int | Ref, table: Formulas) -> int | Formula:
    """A size as the runtime reads it."""
    return size if isinstance(size, int) else Formula(table, size.number, size.text)


def bytes_of(spec: SpecRecord) -> int | None:
    """How many bytes a tensor has; None where that varies."""
    if not all(isinstance(size, int) for size in spec.shape):
        return None
    return ITEM_BYTES[spec.dtype] * math.prod(cast("tuple[int, ...]", spec.shape))


def _needs(holds: bool, what: str, expected: str, got: object) -> None:
    if not holds:
        raise ArtifactError(f"{what} of the program", expected=expected, got=str(got)[:80])


def _spec(spec: SpecRecord, what: str, table: Formulas) -> None:
    _needs(spec.dtype in ITEM_BYTES, what, "a known element type", spec.dtype)
    _needs(len(spec.shape) <= 64, what, "at most 64 dimensions", len(spec.shape))
    for size in spec.shape:
        _size(size, what, table)


def _size(size: int | Ref, what: str, table: Formulas) -> None:
    if isinstance(size, int):
        _needs(0 <= size < LARGEST_TOTAL, what, "a size of 0 or more", size)
        return
    _formula(size, what, table)


def _formula(ref: Ref, what: str, table: Formulas) -> None:
    _needs(0 <= ref.number < len(table), what, f"one of {len(table)} formulas", ref.number)


def _function(function: FunctionRecord, name: str, constants: int, table: Formulas) -> None:
    what, buffers, steps = f"`{name}`", function.buffers, function.steps
    for buffer in buffers:
        for size in (buffer.bytes, *buffer.shape):
            _size(size, f"a buffer of {what}", table)
        is_within = 0 <= buffer.lower <= buffer.upper <= steps
        _needs(is_within, f"a buffer of {what}", f"one in use within {steps} ops", f"{buffer.lower} to {buffer.upper}")
    for number in function.numbers:
        if isinstance(number, Ref):
            _formula(number, f"a number of {what}", table)
    windows = tuple(window.place for window in function.windows)
    for places, kind in (
        (function.result_places, "result"),
        (function.donated, "donated"),
        (function.state, "state"),
        (windows, "lent"),
    ):
        _distinct(places, f"{kind} places of {what}")
        for place in places:
            _needs(_kind(buffers, place) == "argument", f"a {kind} place of {what}", "an argument", place)
    for window in function.windows:
        ends = [end for interval in window.free for end in interval]
        _needs(ends == sorted(ends), f"a window of {what}", "intervals in order", window.free)
    _needs(
        set(windows) <= {*function.result_places, *function.donated},
        f"windows of {what}",
        "results and donated",
        windows,
    )
    filled = [stored.place for stored in function.constants]
    _distinct(filled, f"constants of {what}")
    _needs(
        set(filled) == {i for i, b in enumerate(buffers) if b.kind == "global"},
        f"constants of {what}",
        "all of them",
        filled,
    )
    for stored in function.constants:
        within = (
            stored.offset >= 0 and stored.offset % ALIGNMENT == 0 and 0 <= stored.bytes <= constants - stored.offset
        )
        _needs(within, f"a constant of {what}", f"bytes within {constants:,}", f"{stored.bytes:,} at {stored.offset:,}")
        _needs(
            buffers[stored.place].bytes == stored.bytes,
            f"a constant of {what}",
            "the bytes of its buffer",
            stored.bytes,
        )
    _plans(function, what)


def _plans(function: FunctionRecord, what: str) -> None:
    buffers, plans = function.buffers, function.plans
    places = [i for i, use in enumerate(buffers) if use.kind == "alloc" and use.lower < use.upper]
    pools = {window.place for window in function.windows}
    if plans.fixed is not None:
        sizes = [buffers[place].bytes for place in (*places, *pools)]
        _needs(all(isinstance(size, int) for size in sizes), f"the plan of {what}", "sizes that are numbers", "others")
        _fixed(plans.fixed, buffers, places, pools, what, function.steps)
        return
    _needs(
        1 <= len(plans.stackings) <= 64 and (not plans.all or len(plans.stackings) == 1),
        f"plans of {what}",
        "some",
        "none",
    )
    for stacking in plans.stackings:
        _stacking(stacking, len(places), pools, what)


def _fixed(
    plan: PlanRecord, buffers: Sequence[BufferUseRecord], places: Sequence[int], pools: set[int], what: str, steps: int
) -> None:
    _needs(
        [each.place for each in plan.placements] == places, f"the plan of {what}", "a place for each buffer", "others"
    )
    _needs(
        0 <= plan.arena <= plan.no_reuse < LARGEST_TOTAL,
        f"the arena of {what}",
        "bytes, no more than without reuse",
        plan.arena,
    )
    for each in plan.placements:
        size = cast(int, buffers[each.place].bytes)
        _needs(each.pool is None or each.pool in pools, f"the plan of {what}", "memory that is lent", each.pool)
        room = plan.arena if each.pool is None else cast(int, buffers[each.pool].bytes)
        within = 0 <= each.offset <= room - size and each.offset % ALIGNMENT == 0
        _needs(within, f"the plan of {what}", f"offsets within {room:,} bytes", f"{size:,} bytes at {each.offset:,}")
    planned = {*places}
    for place in plan.bound.places:
        _needs(place in planned, f"the bound of {what}", "buffers that are planned", place)
    _needs(
        0 <= plan.bound.step < max(1, steps) and plan.bound.bytes >= 0, f"the bound of {what}", "an op", plan.bound.step
    )


def _stacking(stacking: StackingRecord, count: int, pools: set[int], what: str) -> None:
    lengths = len(stacking.spaces), len(stacking.order), len(stacking.below)
    _needs(lengths == (count,) * 3, f"a stacking of {what}", f"{count} buffers", lengths)
    _needs(sorted(stacking.order) == list(range(count)), f"a stacking of {what}", "each buffer once", "others")
    _needs(
        all(each is None or each in pools for each in stacking.spaces),
        f"a stacking of {what}",
        "memory that is lent",
        "other",
    )
    rank = {i: position for position, i in enumerate(stacking.order)}
    for i, below in enumerate(stacking.below):
        on_others = all(
            0 <= j < count and rank[j] < rank[i] and stacking.spaces[j] == stacking.spaces[i] for j in below
        )
        _needs(on_others, f"a stacking of {what}", "each on some before it in the same memory", below)


def _arguments(record: ProgramRecord) -> None:
    main = record.main
    _needs(len(record.input_places) == len(record.inputs), "inputs", "a place for each", len(record.input_places))
    _needs(len(main.result_places) == len(record.results), "results", "a place for each", len(main.result_places))
    donated = {*main.donated}
    own = [place for place in main.result_places if place not in donated]
    given = [
        *record.input_places,
        *(each.place for each in record.weights),
        *(each.place for each in record.prepared),
        *own,
    ]
    _distinct(given, "arguments of `main`")
    arguments = {i for i, buffer in enumerate(main.buffers) if buffer.kind == "argument"}
    _needs(
        set(given) == arguments,
        "arguments of `main`",
        "each an input, weight or result",
        sorted(arguments ^ set(given)),
    )
    pairs = [(place, bytes_of(spec)) for place, spec in zip(record.input_places, record.inputs, strict=True)]
    pairs += [
        (place, bytes_of(spec))
        for place, spec in zip(main.result_places, record.results, strict=True)
        if place not in donated
    ]
    pairs += [(each.place, each.bytes) for each in (*record.weights, *record.prepared)]
    for each in record.weights:
        use = main.buffers[each.place]
        _needs(
            each.read or use.lower == use.upper,
            f"weight '{each.spec.name}'",
            "one that is read, as its argument is",
            "not",
        )
    for place, count in pairs:
        stated = main.buffers[place].bytes
        _needs(
            count is None or stated == count or not isinstance(stated, int),
            f"argument {place}",
            f"{stated} bytes",
            count,
        )
    _needs(donated <= set(record.input_places), "donated places", "inputs", main.donated)
    _needs(set(main.state) <= set(given), "state", "arguments", main.state)
    if record.prepare is None:
        _needs(
            all(each.offset is not None for each in record.prepared),
            "prepared values",
            "`prepare`, which makes them",
            "none",
        )
        return
    fixed = [each for each in record.weights if not each.changed]
    results = [record.prepare.buffers[place].bytes for place in record.prepare.result_places]
    _needs(
        results == [each.bytes for each in record.prepared], "results of `prepare`", "the prepared values", results[:4]
    )
    _distinct((*range(len(fixed)), *record.prepare.result_places), "arguments of `prepare`")
    places = {*range(len(fixed)), *record.prepare.result_places}
    arguments = {i for i, buffer in enumerate(record.prepare.buffers) if buffer.kind == "argument"}
    _needs(
        places == arguments and not record.prepare.donated,
        "arguments of `prepare`",
        "weights and results",
        sorted(arguments)[:8],
    )
    for number, weight in enumerate(fixed):
        _needs(
            record.prepare.buffers[number].bytes == weight.bytes,
            f"argument {number} of `prepare`",
            "a weight",
            weight.bytes,
        )


def _inside(record: ProgramRecord, container: Container) -> None:
    for weight in record.weights:
        _weight(weight, container)
    for each in record.prepared:
        if each.offset is not None:
            _within(container, "weights", each.offset, each.bytes, f"prepared value {each.place}")
        _needs(0 <= each.bytes < LARGEST_TOTAL, "a prepared value", "bytes", each.bytes)


def _delivered(record: ProgramRecord) -> None:
    for spec in record.results:
        is_number = not spec.counted or (spec.dtype, spec.shape) == ("i64", ())
        _needs(is_number, f"result '{spec.name}'", "a number that stands for it", spec.dtype)
    _distinct((each.symbol for each in record.deliveries), "names of what delivers results")
    numbers = [each.number for each in record.deliveries]
    _distinct(numbers, "numbers of results that are delivered")
    counted = sum(bool(spec.counted) for spec in record.results)
    are_some = bool(numbers) == bool(counted) and len(numbers) <= counted  # one may be returned several times
    _needs(are_some, "results that are delivered", f"one to {counted}" if counted else "none", len(numbers))
    for each in record.deliveries:
        _needs(each.symbol not in CALLED, "what delivers a result", "a name of its own", each.symbol)
        _needs(0 <= each.rank <= 64, "a result that is delivered", "at most 64 dimensions", each.rank)
        _needs(each.dtype in ITEM_BYTES, "a result that is delivered", "a known element type", each.dtype)


def _weight(weight: WeightRecord, container: Container) -> None:
    what = f"weight '{weight.spec.name}'"
    _needs(weight.spec.dtype in ITEM_BYTES, what, "a known element type", weight.spec.dtype)
    _needs(bytes_of(weight.spec) == weight.bytes, what, "the bytes of its sizes", weight.bytes)
    if weight.offset is not None:
        _within(container, "state" if weight.changed else "weights", weight.offset, weight.bytes, what)


def _within(container: Container, section: str, offset: int, count: int, what: str) -> None:
    room = container.section(section).bytes
    is_within = offset >= 0 and offset % ALIGNMENT == 0 and 0 <= count <= room - offset
    _needs(is_within, what, f"bytes within the {room:,} of section '{section}'", f"{count:,} at {offset:,}")


def _kind(buffers: Sequence[BufferUseRecord], place: int) -> str:
    return buffers[place].kind if 0 <= place < len(buffers) else "none"


def _distinct(places: Iterable[object], what: str) -> None:
    found = list(places)
    _needs(len(set(found)) == len(found), what, "each once", found)
