"""Which parallel loops get memory for each worker: those that threads would share, but for what iterations allocate or reduce.

An allocation in a parallel loop has one place in the plan, so its iterations run one after the other. With a place for each of
several workers in front of the loop, its *frame*, they run at the same time. A loop that reduces is cut in chunks that reduce to
a *partial result* each, of which there is a row in front of the loop (`analysis.memrefs.reductions`). A loop gets these iff

1. it is a parallel loop that is worth two threads, and reads from outside what can be passed to a function (rules 1, 3 and 4 of
   `analysis.memrefs.shared_loops`); what reduces its values, if anything, is one operation each that is associative and has a
   neutral element, and nothing changes memory atomically so that the order counts (`loop-reduces`);
2. nothing in it calls a function or a foreign kernel (`loop-calls`), or takes memory otherwise than by `memref.alloc`
   (`not-ordinary-memory`);
3. every allocation in it is freed in its own block, so that none outlives the iteration, and nothing else is freed
   (`freed-elsewhere`); its rows lie one after the other (`other-type`); what it is in inside the loop is control flow of `scf` or
   `affine` (`unknown-region`), and no parallel loop that stays one (`parallel-iterations`);
4. the size of each is a number, or has a number as its limit; or, if any growth is allowed, follows from what is known in front
   of the loop, by an allocation that every iteration makes (`size-not-static`, `size-defined-below`);
5. the peak of the function grows by no more bytes than allowed (`frames-raise-peak`). If none are, no loop gets any: where the
   plan finds places for buffers also depends on their sizes, and may take more than the peak.

There are as many workers as threads, but no more than iterations of the dimension that is cut, or chunks of it, and fewer if
only so many fit (rule 5). Whether a loop is cut in chunks does not depend on the threads: with one it is if it would be with
two. Allocations that are never in use at one time share their part of the frame: the largest first, each joins the first
ones that it does not meet. Parts begin at multiples of 64 bytes, so that workers share no line of the cache.

The peak is the most bytes of allocations in use at one time, in lines of 64, by the live ranges that planning takes
(`memrefs.buffers`). Where not all of their sizes are numbers, or none may be added, growth is what the frames have beyond one
iteration of the loop as it was, and what partial results take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.types import counts_on_alignment, natural_alignment
from hotdesk.analysis.memrefs.buffers import BufferUse, find_buffers
from hotdesk.analysis.memrefs.reductions import Combiner, chunk_count, find_combiners
from hotdesk.analysis.memrefs.shared_loops import (
    CALLS,
    can_be_outlined,
    cut_dimension,
    is_hindrance,
    is_worth_it,
    ordered_change,
)
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.loops import bounds_of
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.recompute import Recomputation
from hotdesk.ir.types import element_bytes, element_of, is_memref, shape_of
from hotdesk.ir.walking import (
    defining_op,
    function_around,
    integer_of,
    is_loop_or_branch,
    nested_ops,
    ops_around,
    ops_outside_payloads,
)
from hotdesk.models.control_flow import PARALLEL, SHAREABLE
from hotdesk.models.memref import VIEWS, viewed
from hotdesk.models.new_memory import ALIGNMENT, ALLOC, DEALLOC, dynamic_sizes, manages_memory
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.size import Size, is_opaque

LINE = 64
"""Bytes that parts of frames begin at multiples of."""


@dataclass(frozen=True, slots=True)
class FramePart:
    """Memory for each worker, of allocations that are never in use at one time.

    Attributes:
        allocations: the ops, which become views of it.
        bytes: what a worker has of it, a multiple of `alignment`; None where that is computed in front of the loop.
        alignment: in bytes.
    """

    allocations: tuple[ir.Operation, ...]
    bytes: int | None
    alignment: int


@dataclass(frozen=True, slots=True)
class Privatization:
    """A loop that gets frames, partial results, or both.

    Attributes:
        loop: the parallel loop.
        cut: its dimension that workers share.
        combiners: what reduces its values; it is cut in chunks if there are any.
        workers: how many there are.
        parts: what each has, in the order of the first allocation of each; allocations stay where they are if there are none.
        frees: the deallocations in the loop, all of memory that becomes a part.
    """

    loop: ir.Operation
    cut: int
    combiners: tuple[Combiner, ...]
    workers: int
    parts: tuple[FramePart, ...]
    frees: tuple[ir.Operation, ...]
    decision: Decision


def find_privatizations(function: ir.Operation, threads: int, growth: int | None) -> list[Privatization | Decision]:
    """What is decided of the parallel loops of a function that allocate or reduce and are worth two threads, in order.

    Args:
        threads: how many may work; with one, only loops that reduce are told of.
        growth: the bytes that the peak may grow by; None for any number.
    """
    ops = ops_outside_payloads(function)
    loops = [op for op in ops if op.name in SHAREABLE]
    if threads < 2 and not any(len(loop.results) for loop in loops):
        return []
    if not any(_is_hindered(loop) and is_worth_it(loop) for loop in loops):
        return []
    search = _Search(function, ops, threads, growth)
    found: list[Privatization | Decision] = []
    inside = OpSet()
    for loop in loops:
        if loop in inside or not is_worth_it(loop) or not can_be_outlined(loop):
            continue
        decided = search.decide(loop) if _is_hindered(loop) else None
        if not isinstance(decided, Decision):
            inside.update(nested_ops(loop))
        if decided is not None and (threads > 1 or len(loop.results)):
            found.append(decided)
    return found


def _is_hindered(loop: ir.Operation) -> bool:
    if len(loop.results) or ordered_change(loop) is not None:
        return True
    return any(map(is_hindrance, nested_ops(loop)))


def known_in_front(loop: ir.Operation) -> Recomputation:
    """Which values can be computed in front of a loop, from what is there."""
    inside = OpSet((loop, *nested_ops(loop)))

    def is_above(value: ir.Value) -> bool:
        op = defining_op(value)
        return (cast(ir.Block, value.owner).owner.operation if op is None else op) not in inside

    return Recomputation(function_around(loop), is_above)


def _busy(workers: int, trips: int | None) -> int:
    """How many workers have something to do where each does as many iterations as the first."""
    return workers if trips is None else -(-trips // -(-trips // workers))


class _Search:
    def __init__(self, function: ir.Operation, ops: Sequence[ir.Operation], threads: int, growth: int | None) -> None:
        self._function, self._threads, self._growth = function, threads, growth
        self._numbers = OpMap((op, number) for number, op in enumerate(ops))
        self._sizes = SymbolicSizes(function)
        buffers = find_buffers(function, self._sizes)
        made = ((defining_op(buffer.base), buffer) for buffer in buffers)
        self._buffers = OpMap((op, buffer) for op, buffer in made if op is not None and op.name == ALLOC)
        planned = [buffer for buffer in self._buffers.values() if buffer.kind == "alloc"]
        self._peak = _peak(planned)

    def decide(self, loop: ir.Operation) -> Privatization | Decision:
        """What becomes of a loop that is worth two threads."""
        nested = nested_ops(loop)
        combiners = find_combiners(loop) if len(loop.results) else ()
        if combiners is None:
            return _refused(loop, Reason.LOOP_REDUCES, _last(loop))
        in_order = ordered_change(loop)
        if in_order is not None:
            return _refused(loop, Reason.LOOP_REDUCES, in_order)
        for op in nested:
            if op.name in CALLS:
                return _refused(loop, Reason.LOOP_CALLS, op)
            if manages_memory(op) and op.name not in (ALLOC, DEALLOC):
                return _refused(loop, Reason.NOT_ORDINARY_MEMORY, op)
        made = [op for op in nested if op.name == ALLOC]
        frees = [op for op in nested if op.name == DEALLOC]
        refused = self._not_movable(loop, made, frees)
        if refused is not None:
            return refused
        cut = cut_dimension(loop)
        trips = bounds_of(loop)[cut].trips
        units = chunk_count(trips) if combiners else trips
        parts = self._parts(loop, made)
        if isinstance(parts, Decision):
            return parts
        threads = max(2, self._threads)
        most = threads if units is None else min(threads, units)
        for workers in dict.fromkeys(_busy(each, units) for each in range(most, 1, -1)):
            grown = self._grown(loop, made, parts, workers)
            if self._growth is None or (isinstance(grown, int) and grown <= self._growth):
                because = tuple(map(source_in_model, (loop, *made)))
                reason = Reason.PARTIAL_RESULTS if combiners else Reason.FRAME_FOR_EACH_WORKER
                decision = Decision(_SUBJECT, Outcome.IN_PARALLEL, reason, because, grown)
                found = Privatization(loop, cut, combiners, workers, parts, tuple(frees), decision)
                return self._without_frames(found) if made and self._threads < 2 else found
        return _refused(loop, Reason.FRAMES_RAISE_PEAK, *made, bytes=self._grown(loop, made, parts, 2))

    def _without_frames(self, found: Privatization) -> Privatization:
        """What becomes of a loop that allocates on one thread: it is cut in chunks as on several, and gets no frames."""
        told = replace(found.decision, outcome=Outcome.IN_SEQUENCE, bytes=_partial_bytes(found.loop))
        return replace(found, workers=1, parts=(), frees=(), decision=told)

    def _not_movable(
        self, loop: ir.Operation, made: Sequence[ir.Operation], frees: Sequence[ir.Operation]
    ) -> Decision | None:
        """Why not all memory of an iteration can be a part of a frame (rules 3 and 4, without the sizes); None if it can."""
        for op in frees:
            if _allocation(op.operands[0]) not in made:
                return _refused(loop, Reason.FREED_ELSEWHERE, op)
        for op in made:
            kind = cast(Any, op.results[0].type)
            if kind.affine_map != ir.AffineMap.get_identity(len(shape_of(kind))):
                return _refused(loop, Reason.OTHER_TYPE, op)
            if not any(_allocation(each.operands[0]) == op and each.block == op.block for each in frees):
                return _refused(loop, Reason.FREED_ELSEWHERE, op)
            for around in takewhile(lambda each: each != loop, ops_around(op)):
                if around.name in PARALLEL and around.name not in SHAREABLE:
                    return _refused(loop, Reason.PARALLEL_ITERATIONS, op, around)
                if not is_loop_or_branch(around):
                    return _refused(loop, Reason.UNKNOWN_REGION, op, around)
        return None

    def _is_planned(self, op: ir.Operation) -> bool:
        return self._buffers[op].kind == "alloc"

    def _bytes(self, op: ir.Operation) -> Size:
        """The size of an allocation, or its limit; 0 if it is not known before the program runs."""
        if self._is_planned(op):
            return self._buffers[op].bytes
        memref = op.results[0]
        size = product([*self._sizes.shape(memref), element_bytes(element_of(memref.type))])
        return 0 if is_opaque(size) else size

    def _parts(self, loop: ir.Operation, made: Sequence[ir.Operation]) -> tuple[FramePart, ...] | Decision:
        """What a worker has, or the allocation whose size is not known in front of the loop."""
        known = known_in_front(loop)
        alignment = _alignment(loop)
        open_parts: list[FramePart] = []
        numbered: list[ir.Operation] = []
        for op in made:
            size = self._bytes(op)
            if self._is_planned(op) and isinstance(size, int):
                numbered.append(op)
                continue
            if self._growth is not None or op.block != loop.regions[0].blocks[0]:
                return _refused(loop, Reason.SIZE_NOT_STATIC, op, bytes=size)
            if not all(map(known.follows, dynamic_sizes(op.results[0]) or [])):
                return _refused(loop, Reason.SIZE_DEFINED_BELOW, op, bytes=size)
            open_parts.append(FramePart((op,), None, alignment))
        order = OpMap((op, number) for number, op in enumerate(made))
        parts = [*self._shared(numbered, alignment), *open_parts]
        return tuple(sorted(parts, key=lambda part: min(order[op] for op in part.allocations)))

    def _shared(self, made: Sequence[ir.Operation], alignment: int) -> list[FramePart]:
        """Parts of numbers of bytes, each for allocations of one memory space that are never in use at one time."""
        groups: list[list[ir.Operation]] = []
        for op in sorted(made, key=lambda each: -cast(int, self._buffers[each].bytes)):
            group = next((each for each in groups if all(self._may_share(op, other) for other in each)), None)
            if group is None:
                groups.append([op])
            else:
                group.append(op)
        parts: list[FramePart] = []
        for group in groups:
            size = max(cast(int, self._buffers[op].bytes) for op in group)
            parts.append(FramePart(tuple(group), -(-size // alignment) * alignment, alignment))
        return parts

    def _may_share(self, a: ir.Operation, b: ir.Operation) -> bool:
        one, other = self._buffers[a], self._buffers[b]
        spaces = [cast(Any, op.results[0].type).memory_space for op in (a, b)]
        return spaces[0] == spaces[1] and (one.upper <= other.lower or other.upper <= one.lower)

    def _grown(
        self, loop: ir.Operation, made: Sequence[ir.Operation], parts: Sequence[FramePart], workers: int
    ) -> Size:
        """Bytes that the peak grows by with frames for so many workers, or may grow by."""
        partials = _partial_bytes(loop)
        if any(part.bytes is None for part in parts):
            total: Any = sum((cast(Any, self._bytes(op)) for op in made), 0)
            return cast(Size, (workers - 1) * total + partials)
        frames = workers * sum(cast(int, part.bytes) for part in parts) + partials
        if self._peak is None or self._growth == 0:
            return max(0, frames - cast(int, _peak(self._buffers[op] for op in made)))
        at = self._numbers[loop]
        planned = [buffer for op, buffer in self._buffers.items() if buffer.kind == "alloc" and op not in made]
        around = sum(_in_lines(cast(int, buffer.bytes)) for buffer in planned if buffer.lower <= at < buffer.upper)
        return max(0, around + frames - self._peak)


def _partial_bytes(loop: ir.Operation) -> int:
    """What a loop takes for its partial results, in lines; 0 if it reduces nothing."""
    if not len(loop.results):
        return 0
    count = chunk_count(bounds_of(loop)[cut_dimension(loop)].trips)
    return sum(_in_lines(count * element_bytes(str(result.type))) for result in loop.results)


def _in_lines(bytes: int) -> int:
    return -(-bytes // LINE) * LINE


def _peak(buffers: Iterable[BufferUse]) -> int | None:
    """The most bytes in use at one time, in lines; None if a size is no number."""
    changes: list[tuple[int, int]] = []
    for buffer in buffers:
        if not isinstance(buffer.bytes, int):
            return None
        if buffer.lower < buffer.upper:
            taken = _in_lines(buffer.bytes)
            changes += [(buffer.lower, taken), (buffer.upper, -taken)]
    most = now = 0
    for _, change in sorted(changes):  # at one number, what ends comes first
        now += change
        most = max(most, now)
    return most


def _allocation(value: ir.Value) -> ir.Operation | None:
    """The allocation that a memref is a view of; None if control flow chooses one."""
    op = defining_op(viewed(value, VIEWS))
    return op if op is not None and op.name == ALLOC else None


def _alignment(loop: ir.Operation) -> int:
    """What all memory of iterations is aligned to: a line, or more where an op of theirs wants that."""
    ops = nested_ops(loop)
    asked = [integer_of(op, ALIGNMENT) for op in ops if op.name == ALLOC and ALIGNMENT in op.attributes]
    asked += [integer_of(op, ALIGNMENT) for op in ops if counts_on_alignment(op)]
    natural = [natural_alignment(value.type) for op in ops for value in op.results if is_memref(value.type)]
    return max([LINE, *asked, *natural])


def _last(loop: ir.Operation) -> ir.Operation:
    return list(loop.regions[0].blocks[0].operations)[-1].operation


def _refused(loop: ir.Operation, reason: Reason, *ops: ir.Operation, bytes: Size = 0) -> Decision:
    because: tuple[Source, ...] = tuple(map(source_in_model, (loop, *ops)))
    return Decision(_SUBJECT, Outcome.IN_SEQUENCE, reason, because, bytes)


_SUBJECT = "parallel loop"
