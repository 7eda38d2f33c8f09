"""Gives each worker of a parallel loop memory of its own for what iterations allocate, so that threads can share the loop.

    scf.forall (%i) in (64) {                        %f = memref.alloc() : memref<65536xi8>
      %a = memref.alloc() : memref<8192xf32>         scf.parallel (%w) = (%c0) to (%c2) step (%c1) {
      …                                       ->       %s = arith.muli %w, %c32768 : index
      memref.dealloc %a                                scf.for %k = %c0 to %c32 step %c1 {
    }                                                    %i = arith.addi %w * 32, %k
                                                         %a = memref.view %f[%s][] : memref<65536xi8> to memref<8192xf32>
                                                         … } }
                                                     memref.dealloc %f

A loop that reduces is first cut in chunks with a partial result each, which are combined in order behind it:

    %r = scf.parallel (%i) = (0) to (4096)           %p = memref.alloc() : memref<64xf32>
        step (1) init(%z) -> f32 {                   scf.parallel (%c) = (0) to (64) step (1) {
      …                                       ->       %q = scf.for %k = 0 to 64 iter_args(%a = -0.0) { … %c * 64 + %k … }
      scf.reduce(%v : f32) {                           memref.store %q, %p[%c] : memref<64xf32>
        …  arith.addf … } }                          }
                                                     %r = scf.for %c = 0 to 64 iter_args(%a = %z) { … arith.addf … }
                                                     memref.dealloc %p

Legal iff rules 1 to 5 of `analysis.allocations.privatization` hold, which has the numbers of workers and bytes, too. Each worker
does a contiguous share of the iterations of one dimension, and all of the others. Where the shares are uneven, the last ones end
early. Parallel loops in such a loop become loops one after the other, as far as they allocate. Functions that call themselves
stay as they are: none of their loops are shared.

Results stay what they were, bit by bit, but for sums and products of floats that a loop reduces to: they are rounded in the order
of chunks, and one of a chunk may overflow where none in the loop's order does. Chunks follow from the program and its sizes, not
from `threads`: the results are the same for any number of them, and from run to run.

Run it behind deallocation and in front of planning: what frees memory is read, and the frames are freed behind the loop. A loop
that no such memory can be had for is reported with the reason, and stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.privatization import (
    FramePart,
    Privatization,
    find_privatizations,
    known_in_front,
)
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import compared, create, ended
from hotdesk.ir.loops import LoopBounds, as_value, bounds_of, index_of, nest, parallel, place_of, trips_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import DYNAMIC, element_bytes, element_of, shape_of
from hotdesk.ir.walking import all_functions, modules, nested_ops, runs_every_call
from hotdesk.models.control_flow import SHAREABLE
from hotdesk.models.new_memory import ALLOC, DEALLOC, dynamic_sizes
from hotdesk.models.parallel import reduced_in_loops
from hotdesk.models.payloads import inlined
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.reduction_chunks import cut_in_chunks
from hotdesk.passes.buffers.share import byte_view, new_bytes
from hotdesk.passes.properties import VIEWS_FIT, Property
from hotdesk.program.calls import bottom_up

_NO_MACHINE_HAS = 1 << 48
"""Bytes of a row that are too many, and that can still be multiplied by the number of threads."""


@dataclass(frozen=True, slots=True)
class PrivatizeBuffers(Pass):
    """Gives workers of parallel loops memory of their own (rules in `analysis.allocations.privatization`).

    Options:
        threads: how many workers a loop may have; with 1 no loop gets memory for what it allocates.
        max_growth_in_bytes: what the peak of a function may grow by; -1 for any number of bytes, and with 0 no loop gets memory.
    """

    name: ClassVar[str] = "hotdesk-privatize-buffers"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.FRAME_FOR_EACH_WORKER,
        Reason.PARTIAL_RESULTS,
        Reason.FRAMES_RAISE_PEAK,
        Reason.LOOP_REDUCES,
        Reason.LOOP_CALLS,
        Reason.NOT_ORDINARY_MEMORY,
        Reason.FREED_ELSEWHERE,
        Reason.PARALLEL_ITERATIONS,
        Reason.UNKNOWN_REGION,
        Reason.OTHER_TYPE,
        Reason.SIZE_NOT_STATIC,
        Reason.SIZE_DEFINED_BELOW,
    )
    threads: int = 2
    max_growth_in_bytes: int = 256 << 10

    def __post_init__(self) -> None:
        for option, value, least in (
            ("threads", self.threads, 1),
            ("max-growth-in-bytes", self.max_growth_in_bytes, -1),
        ):
            if value < least:
                raise OptionError(f"option '{option}' of '{self.name}'", expected=f"{least} or more", got=str(value))

    def ensures(self) -> tuple[Property, ...]:
        return (VIEWS_FIT,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        growth = None if self.max_growth_in_bytes < 0 else self.max_growth_in_bytes
        decisions: list[Decision] = []
        recursive = OpSet(each.function for one in modules(module) for each in bottom_up(one) if each.recursive)
        for function in all_functions(module):
            found = [] if function in recursive else find_privatizations(function, self.threads, growth)
            for each in found:
                if isinstance(each, Privatization):
                    _privatize(each)
            if runs_every_call(function):
                decisions += [each.decision if isinstance(each, Privatization) else each for each in found]
        return tuple(decisions)


def _privatize(found: Privatization) -> None:
    loop, cut = found.loop, found.cut
    if found.combiners:
        loop, cut = cut_in_chunks(loop, cut, found.combiners), 0
    if not found.parts:
        return
    for op in found.frees:
        op.erase()
    for inner in [op for op in nested_ops(loop) if op.name in SHAREABLE]:
        if any(op.name == ALLOC for op in nested_ops(inner)):
            _one_after_another(inner)
    with loop.location:
        _Workers(found, loop, cut).run()
    loop.erase()


def _one_after_another(loop: ir.Operation) -> None:
    """Makes loops of a parallel one."""
    if len(loop.results):
        for old, new in zip(loop.results, reduced_in_loops(loop), strict=True):
            old.replace_all_uses_with(new)
    else:
        with loop.location:
            places, _, _, end = nest(bounds_of(loop), [], loop)
            inlined(loop.regions[0].blocks[0], places, end)
    loop.erase()


class _Workers:
    """A loop over workers in front of the loop that gets frames, which is cut in one dimension."""

    def __init__(self, found: Privatization, loop: ir.Operation, cut: int) -> None:
        self._found, self._loop, self._cut = found, loop, cut
        self._bounds = bounds_of(loop)
        self._count = trips_of(self._bounds[cut], loop)

    def run(self) -> None:
        loop, count, workers = self._loop, self._count, self._found.workers
        frames = [self._frame(part) for part in self._found.parts]
        share = -(-count // workers) if isinstance(count, int) else self._made("ceildivsi", count, workers)
        _, worker, end = parallel(workers, loop)
        first = index_of("muli", worker, share, before=end)
        for part, (frame, row) in zip(self._found.parts, frames, strict=True):
            offset = index_of("muli", worker, row, before=end)
            for op in part.allocations:
                op.results[0].replace_all_uses_with(byte_view(frame, op, offset))
                op.erase()
        (number,), _, _, end = nest([LoopBounds(0, share, 1)], [], end)
        number = index_of("addi", first, number, before=end)
        if not (isinstance(count, int) and count % workers == 0):
            end = _if(compared("slt", number, as_value(count, end), end), end)
        places = {self._cut: place_of(number, self._bounds[self._cut], end)}
        others = [dim for dim in range(len(self._bounds)) if dim != self._cut]
        numbers, _, _, end = nest([self._bounds[dim] for dim in others], [], end)
        places.update(zip(others, numbers, strict=True))
        inlined(loop.regions[0].blocks[0], [places[dim] for dim in range(len(self._bounds))], end)
        for frame, _ in frames:
            create(DEALLOC, [frame], [], before=loop)

    def _frame(self, part: FramePart) -> tuple[ir.Value, int | ir.Value]:
        """Memory for all workers, and the bytes from one worker's to the next."""
        memory = part.allocations[0].results[0].type
        space, workers = cast(Any, memory).memory_space, self._found.workers
        if part.bytes is not None:
            return new_bytes(workers * part.bytes, [], part.alignment, self._loop, space), part.bytes
        sizes = iter(
            known_in_front(self._loop).compute(dynamic_sizes(part.allocations[0].results[0]) or [], self._loop)
        )
        known = [size for size in shape_of(memory) if size is not None]
        row: int | ir.Value = min(prod(known) * element_bytes(element_of(memory)), _NO_MACHINE_HAS)
        for size in sizes:
            row = self._times(self._made("maxsi", size, 0), row)
        row = self._made("muli", self._made("ceildivsi", row, part.alignment), part.alignment)
        rows = workers if isinstance(self._count, int) else self._made("minsi", self._count, workers)
        return new_bytes(DYNAMIC, [self._made("muli", row, rows)], part.alignment, self._loop, space), row

    def _times(self, size: ir.Value, row: int | ir.Value) -> ir.Value:
        """Their product, or about `_NO_MACHINE_HAS` bytes if it is more, which no allocation gets: it never wraps around."""
        if isinstance(row, int):
            most: int | ir.Value = _NO_MACHINE_HAS // max(row, 1)
        else:
            most = self._made("divsi", _NO_MACHINE_HAS, self._made("maxsi", row, 1))
        return self._made("muli", self._made("minsi", size, most), row)

    def _made(self, name: str, *operands: int | ir.Value) -> ir.Value:
        """A result of index arithmetic in front of the loop."""
        return index_of(name, *operands, before=self._loop)


def _if(condition: ir.Value, before: ir.Operation) -> ir.Operation:
    """The end of what is done under a condition, in front of an op."""
    made = create("scf.if", [condition], [], regions=2, before=before)
    return ended(made.regions[0], [], before)
