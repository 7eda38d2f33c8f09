"""Where control decides who owns a buffer, the program says so on each path, and nothing is asked at run time.

1. A choice of which it would be asked what was chosen becomes a branch: each way frees what it does not pass on. It is put off
   until both have been used, so that the other one can be freed there: behind the last use of its operands, no further, so
   nothing is kept alive for it.

    %s = arith.select %p, %a, %b; use %b      ->      use %b; %s = scf.if %p { scf.yield %a } else { scf.yield %b }

   legal always, as long as the choice stays in front of what uses it: it touches no memory.

2. A result that on some paths is memory of somebody else, or of another result, is copied on those paths, instead of behind them.

    %r = scf.if %p { scf.yield %new } else { scf.yield %argument }; return %r      ->      … else { copy %argument to %c;
                                                                                           scf.yield %c }

   legal iff nothing but the return uses what comes out of the branch, and nothing between the two can write memory: so the copy
   holds what it would hold there. Ops between the two may read it if they write nothing but memory that they allocate, and all
   memory that they use lives on: so nothing is freed there that the copy would be held beside. A few other ops between the two
   go into each way of the branch first (`ownership_tails`). Paths that come by a `cf.br` of their own are such ways as well.

3. A branch without `else` gets one if a buffer is used for the last time in front of an allocation in it: so it can be freed
   there, and where the branch is not taken. What stays empty is taken away again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Set

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership, OwnershipTransfer
from hotdesk.ir.building import branch, create, ended, replace
from hotdesk.ir.walking import attributes_of
from hotdesk.models.control_flow import BRANCHES
from hotdesk.models.memory_effects import effects_of
from hotdesk.passes.buffers.ownership_tails import Tail, may_follow
from hotdesk.program.op_ranges import between
from hotdesk.program.records import ENTRY, EXIT

_LASTING = (Kind.ARGUMENT, Kind.GLOBAL)
Point = tuple[int, int]
"""An op and one of its operands."""


def asked_choices(program: BufferProgram, ownership: Ownership) -> list[BufferOp]:
    """The selects of which addresses would tell what was chosen (1)."""
    found: dict[int, BufferOp] = {}
    for transfer in ownership.transfers.values():
        root = program.buffers[program.root(transfer.source)]
        if root.kind is Kind.CHOICE and len(transfer.candidates) > 1 and (transfer.moved or transfer.claimed):
            op = program.ops[root.producer]
            if str(op.operation.operands[0].type) == "i1":
                found[root.producer] = op
    return [found[number] for number in sorted(found)]


def branch_of(select: ir.Operation) -> ir.Operation:
    """A branch in the place of a select."""
    condition, true, false = select.operands
    made, _, otherwise = branch(condition, [true.type], [true], select)
    otherwise.operands[0] = false
    replace(select, made)
    return made


def choice_of(branch: ir.Operation) -> None:
    """Puts the select back in the place of its branch."""
    passed = [region.blocks[0].operations[0].operation.operands[0] for region in branch.regions]
    operands = [branch.operands[0], *passed]
    replace(branch, create("arith.select", operands, [branch.results[0].type], before=branch))


def foreign_points(
    program: BufferProgram, ownership: Ownership
) -> tuple[list[tuple[OwnershipTransfer, list[Point]]], Tail | None]:
    """The results that are copied on their paths, and where these pass on memory of somebody else (2); or what has to go into
    the ways of a branch first."""
    found: list[tuple[OwnershipTransfer, list[Point]]] = []
    for transfer in ownership.transfers.values():
        if transfer.slot.returned < 0 or transfer.certain or len(transfer.slot.keys) != 1:
            continue
        paths = _Paths(program, ownership, {EXTERNAL, *(owner for owner, _ in transfer.claimed)})
        points = paths.behind(transfer.source, transfer.key[0])
        if points and paths.tails:
            return [], paths.tails[0]
        if points:
            found.append((transfer, points))
    return found, None


class _Paths:
    """Where the memory that a value may be comes from."""

    def __init__(self, program: BufferProgram, ownership: Ownership, foreign: Set[int]) -> None:
        self._program, self._ownership, self._foreign = program, ownership, foreign
        self.tails: list[Tail] = []

    def behind(self, value: int, user: int) -> list[Point]:
        """Where somebody else's memory becomes `value`, which op `user` passes on; nothing if not all of it can be told."""
        points: list[Point] = []
        return points if self._collect(value, user, points) else []

    def _collect(self, value: int, user: int, points: list[Point], alone: bool = True) -> bool:
        """As `behind`; `alone` is whether nothing else uses the memrefs between `value` and what the op passes on."""
        program = self._program
        record = program.buffers[value]
        alone = alone and len(program.users[value]) == 1
        if any(program.ops[op].operands.count(value) != 1 for op in program.users[value] if alone or op == user):
            return False
        if record.kind is Kind.VIEW:
            return self._collect(record.sources[0], user, points, alone)
        if record.kind is not Kind.PASSED or record.block != program.ops[user].block:
            return False
        if record.producer < 0:
            return alone and self._arguments(value, user, points)
        op = program.ops[record.producer]
        if op.name not in BRANCHES:
            return False
        if not (alone and self._is_quiet(range(op.end, user))):
            tail = Tail(op.number, user)
            if not self._is_only_read(value, tail):
                if not may_follow(program, tail):
                    return False
                self.tails.append(tail)
        leaving = [edge for edge in op.edges if edge.end == EXIT]
        if any(edge.start == ENTRY for edge in leaving):
            return False
        passed = (
            (end.number, operand)
            for edge in leaving
            for end in program.terminators(op, edge.start)
            for operand, result in edge.passed
            if op.results[result] == value
        )
        return self._sources(passed, points)

    def _arguments(self, value: int, user: int, points: list[Point]) -> bool:
        """As `_collect`, for a block argument that comes by branches with one way."""
        program = self._program
        block = program.buffers[value].block
        if not self._is_quiet(range(program.blocks[block].first, user)):
            return False
        slot = self._ownership.slots.of_target.get(value)
        if slot is None or len(slot.targets) != 1:
            return False
        straight = all(program.ops[op].name == "cf.br" and op < user for op, _ in slot.keys)
        return straight and self._sources(slot.keys, points)

    def _sources(self, passed: Iterable[Point], points: list[Point]) -> bool:
        for op, operand in passed:
            source = self._program.ops[op].operands[operand]
            candidates = self._ownership.candidates[source]
            if candidates <= self._foreign:
                points.append((op, operand))
            elif candidates & self._foreign and not self._collect(source, op, points):
                return False
        return True

    def _is_only_read(self, value: int, tail: Tail) -> bool:
        """Whether a tail at most reads what comes out of the branch, writes what it allocates, and ends no buffer's life."""
        program = self._program
        between = range(program.ops[tail.branch].end, tail.user)
        passed = [program.root(operand) for operand in program.ops[tail.user].operands if operand != NOT_A_BUFFER]
        storing = {op for op, _ in program.stored}
        if passed.count(value) != 1 or value not in program.ops[tail.user].operands:
            return False
        for number in between:
            op = program.ops[number]
            effects = effects_of(op.operation)
            if effects is None or number in storing:
                return False
            written = [program.root(program.numbers[memref]) for memref in effects.writes]
            if any(memref not in passed or program.buffers[memref].producer not in between for memref in written):
                return False
            used = {program.root(memref) for memref in (*op.operands, *op.results) if memref != NOT_A_BUFFER}
            if any(program.buffers[memref].kind not in _LASTING for memref in used.difference(passed)):
                return False
        return True

    def _is_quiet(self, ops: range) -> bool:
        """Whether no op of a range may write memory."""
        found = [effects_of(self._program.ops[number].operation) for number in ops]
        return all(effects is not None and not effects.writes for effects in found)


def opened(program: BufferProgram, ownership: Ownership) -> list[ir.Operation]:
    """The branches that would get an `else` (3): what is freed right behind them could be freed inside."""
    behind = {place.after for places in ownership.places.values() for place in places if place.after >= 0}
    made = sorted(b.producer for b in program.buffers if b.kind is Kind.ALLOCATION)
    found: list[ir.Operation] = []
    for number in sorted(behind):
        op = program.ops[number]
        if op.name == "scf.if" and not op.regions[1] and bisect_left(made, number) < bisect_left(made, op.end):
            found.append(op.operation)
    return found


def open_branch(branch: ir.Operation) -> None:
    """Gives a branch an empty `else`."""
    ended(branch.regions[1], [], branch)


def close_branch(branch: ir.Operation) -> None:
    """Takes an `else` away in which there is nothing."""
    if len(list(branch.regions[1].blocks[0].operations)) > 1:
        return
    attributes = attributes_of(branch)
    new = create(branch.name, list(branch.operands), [], attributes, regions=2, before=branch)
    branch.regions[0].blocks[0].append_to(new.regions[0])
    branch.erase()


def put_off(program: BufferProgram, ownership: Ownership, choice: BufferOp) -> None:
    """Moves a choice down in its block, behind the uses of the memory of its operands in front of its own first use."""
    (result,) = choice.results
    tops = (program.within(user, choice.block) for user in program.users[result])
    first = min((top for top in tops if top is not None), default=program.blocks[choice.block].last)
    owners = ownership.candidates[result] - {EXTERNAL}
    used = [op for owner in owners for op in between(ownership.uses.get(owner, ()), choice.end, first)]
    if used and (last := program.within(max(used), choice.block)) is not None:
        choice.operation.move_after(program.ops[last].operation)
