"""From when to when the memory of an allocation is in use, as a range of op numbers.

Ops are numbered in the order of the text, so one branch comes before the other, and an op in a loop is inside the loop's numbers.
Two allocations whose ranges do not meet are never in use at one time:

1. The range begins with the first op that reads or writes an alias, and ends behind the last one. Views, sizes and deallocations
   touch nothing, and neither does passing an alias on. Only `memref.reshape` counts, which reads the sizes that it is given.
2. It is counted in the lowest block that has all aliases and their uses inside: what is touched inside an op of that block is
   touched by the whole op, since the op may be a loop.
3. If the uses are spread over several blocks of a region, it is all of that region.
4. It is not known if an alias leaves the function, or an op keeps a pointer; if the way from the allocation up to that block
   leads out of a loop, or an alias comes around one, since then two of them may be in use at once; and if it leads out of a
   region of which nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.analysis.allocations.hoisting import is_loop, runs_in_parallel
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferOp, Kind
from hotdesk.explain import Reason
from hotdesk.models.memref import QUIET, RESHAPE
from hotdesk.models.new_memory import only_frees


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The ops `lower` to `upper`, half open, touch an allocation; none if they are equal. `block` has all its uses inside.

    If it is `spread`, it is used in several blocks of the function.
    """

    block: int
    lower: int
    upper: int
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Why the live range of an allocation is not known, and the op that is the reason."""

    reason: Reason
    op: int


def live_range(allocations: Allocations, allocation: Allocation) -> LiveRange | Unbounded:
    """The live range of an allocation."""
    program, dominance = allocations.program, allocations.dominance
    if allocation.keepers:
        return Unbounded(Reason.KEPT_BY_UNKNOWN, allocation.keepers[0])
    if (returned := allocations.returned_by(allocation)) is not None:
        return Unbounded(Reason.LEAVES_SCOPE, returned)
    home = program.ops[allocation.op].block
    places = {program.buffers[alias].block for alias in allocation.aliases}
    places |= {program.ops[user].block for user in allocation.users}
    if allocations.comes_around(allocation):
        return Unbounded(Reason.KEPT_BETWEEN_ITERATIONS, program.blocks[home].last)
    common = dominance.common([home, *sorted(places)])
    found = _climbed(allocations, home, common)
    if isinstance(found, Unbounded):
        return found
    if any(place != found and program.within_block(place, found) is None for place in places):
        return _whole_region(allocations, found)
    touching = [user for user in allocation.users if is_touching(allocations, program.ops[user])]
    lifted = [program.within(user, found) for user in touching]
    tops = sorted(top for top in lifted if top is not None)
    if not tops:
        return LiveRange(found, allocation.op, allocation.op)
    return LiveRange(found, tops[0], program.ops[tops[-1]].end)


def is_touching(allocations: Allocations, op: BufferOp) -> bool:
    """Whether an op itself reads or writes memrefs that it has as operands."""
    found = allocations.touching.get(op.number)
    if found is None:
        found = allocations.touching[op.number] = _reads_or_writes(allocations, op)
    return found


def _reads_or_writes(allocations: Allocations, op: BufferOp) -> bool:
    program = allocations.program
    if op.name in QUIET or op.control or only_frees(op.operation):
        return False
    if op.name == RESHAPE:  # a view that reads its sizes
        return True
    if op.results and all(r >= 0 and program.buffers[r].kind in (Kind.VIEW, Kind.CHOICE) for r in op.results):
        return False
    return not program.leads_on(op)


def _climbed(allocations: Allocations, home: int, common: int) -> int | Unbounded:
    """The block to count in: `common`, or the one of the same region that is around `home`."""
    program = allocations.program
    place = home
    region = (program.blocks[common].parent, program.blocks[common].region)
    while (program.blocks[place].parent, program.blocks[place].region) != region:
        parent = program.blocks[place].parent
        op = program.ops[parent]
        if runs_in_parallel(op):
            return Unbounded(Reason.PARALLEL_ITERATIONS, parent)
        if is_loop(op):
            return Unbounded(Reason.KEPT_BETWEEN_ITERATIONS, parent)
        if not op.control:
            return Unbounded(Reason.UNKNOWN_REGION, parent)
        place = op.block
    return place


def _whole_region(allocations: Allocations, block: int) -> LiveRange | Unbounded:
    """Rule 3: the region of a block; not known if the block may run again while the allocation is in use."""
    program = allocations.program
    if allocations.dominance.cycle(block) >= 0:
        return Unbounded(Reason.KEPT_BETWEEN_ITERATIONS, program.blocks[block].last)
    record = program.blocks[block]
    blocks = program.region_of(block)
    top = block if record.parent == FUNCTION else program.ops[record.parent].block
    spread = record.parent == FUNCTION
    return LiveRange(top, program.blocks[blocks[0]].first, program.blocks[blocks[-1]].end, spread)
