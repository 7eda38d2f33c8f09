"""Ownership at run time: an `i1` beside each memref that is owned on some paths only.

    scf.yield %a : memref<8xf32>      ->      scf.yield %a, %true : memref<8xf32>, i1

Block arguments and results of a dynamic slot get a flag after their others; branches and terminators pass one on. A flag that is
known on all paths is not made: static owners need none. Nor is one asked that comes beside what is owned on all ways into a
result: that of a loop that certainly runs, though what went into it was not owned. A function that *lends* returns a flag beside
each result that it may not own, instead of a copy.

Where an operand may be the memory of several owners that end with it, addresses tell which it was; what nobody took is freed
there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership, OwnershipTransfer
from hotdesk.analysis.ownership.shifted_views import shifted, shifting
from hotdesk.analysis.ownership.slots import OwnershipSlot
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import compared, constant, create
from hotdesk.ir.functions import called_name, widened
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import formals, set_signature, signature
from hotdesk.models.func import RETURN
from hotdesk.passes.buffers.branch_edges import operand_parts, remade_branch
from hotdesk.passes.buffers.freeing import free
from hotdesk.passes.buffers.returned_copies import ReturnedCopy, copy_results
from hotdesk.program.records import ENTRY, EXIT


class Rewritten:
    """The IR as it is now. `flags` has for each owner that may own nothing the value that tells."""

    def __init__(self, program: BufferProgram, ownership: Ownership) -> None:
        self._program, self._ownership = program, ownership
        self._ops: dict[int, ir.Operation] = {}
        self._values: dict[int, ir.Value] = {}
        self.flags: dict[int, ir.Value] = {}

    def op(self, number: int) -> ir.Operation:
        return self._ops.get(number) or self._program.ops[number].operation

    def value(self, buffer: int) -> ir.Value:
        found = self._values.get(buffer)
        return self._program.buffers[buffer].value if found is None else found

    def replace(self, op: BufferOp, new: ir.Operation) -> None:
        """Puts a new op, and the first of its results, in the place of an op that goes."""
        old = self.op(op.number)
        if op.results:
            results = list(new.results)
            for before, after in zip(old.results, results, strict=False):  # behind those there are flags
                before.replace_all_uses_with(after)
            self._values.update((value, results[i]) for i, value in enumerate(op.results) if value >= 0)
        self._ops[op.number] = new
        old.erase()

    def free(self, owner: int, at: ir.InsertionPoint, location: ir.Location, flag: ir.Value | None) -> None:
        """Frees what an owner has, by the op that its allocator wants; if the flag is true, where there is one."""
        name, value = self._ownership.freed_by(owner), self.value(owner)
        if flag is None:
            free(value, at, location, name)
            return
        choice = ir.Operation.create("scf.if", [], [flag], None, None, 2, location, at)
        inside = ir.InsertionPoint(choice.regions[0].blocks.append())
        free(value, inside, location, name)
        ir.Operation.create("scf.yield", [], [], None, None, 0, location, inside)


class OperandFlags:
    """Makes the flags of what is transferred; `dynamic` are the slots that carry one, by number."""

    def __init__(
        self, program: BufferProgram, ownership: Ownership, dynamic: Collection[int], rewritten: Rewritten
    ) -> None:
        self._program, self._ownership, self._dynamic, self._rewritten = program, ownership, dynamic, rewritten

    def at(self, op: BufferOp, before: ir.Operation) -> dict[int, ir.Value]:
        """By operand, whether ownership comes with it; and the buffers freed that nobody took."""
        keys = self._ownership.slots.keys_at.get(op.number)
        if keys is None:
            return {}
        transfers = [self._ownership.transfers[key] for key in keys if key in self._ownership.transfers]
        flags = {
            h.key[1]: self._flag(h, transfers, before)
            for h in transfers
            if h.slot.number in self._dynamic or (h.slot.returned >= 0 and not h.certain)
        }
        for owner in dict.fromkeys(c for h in transfers for c in h.moved):
            self._free_untaken(owner, [h for h in transfers if owner in h.moved or owner in dict(h.claimed)], before)
        return flags

    @cached_property
    def _shifted(self) -> frozenset[int]:
        return shifted(self._program, self._ownership)

    def _flag(
        self, transfer: OwnershipTransfer, transfers: Sequence[OwnershipTransfer], before: ir.Operation
    ) -> ir.Value:
        """Whether ownership comes with an operand: one of the owners that end here has it, and no other operand takes it."""
        if transfer.certain:
            return bit(True, before)
        firsts = {h.key: h for h in transfers}
        open_claims = [(owner, firsts[key]) for owner, key in transfer.claimed if len(firsts[key].candidates) > 1]
        owners = [*transfer.moved, *(owner for owner, _ in open_claims)]
        rivals = list({first.key: first for _, first in open_claims}.values())
        if not owners or any(rival.source == transfer.source for rival in rivals):
            return bit(False, before)
        terms = [self._is_its(transfer, owner, before) for owner in owners]
        if EXTERNAL not in transfer.candidates and len(owners) == len(transfer.candidates):
            terms = [None]  # one of them it is
        known = [term for term in terms if term is not None]
        parts = [_joined("arith.ori", known, before)] if len(known) == len(terms) else []
        parts += (self._compared("ne", transfer.source, rival.source, before) for rival in rivals)
        return _joined("arith.andi", parts, before) if parts else bit(True, before)

    def _is_its(self, transfer: OwnershipTransfer, owner: int, before: ir.Operation) -> ir.Value | None:
        """Whether an operand is memory that `owner` owns; None if it certainly is."""
        flag = self._rewritten.flags.get(owner)
        if transfer.candidates == frozenset({owner}) or self._program.root(transfer.source) == owner:
            return flag
        same = self._compared("eq", transfer.source, owner, before)
        return same if flag is None else _joined("arith.andi", [flag, same], before)

    def _free_untaken(self, owner: int, transfers: Sequence[OwnershipTransfer], before: ir.Operation) -> None:
        """Frees the buffer of an owner that ends here, if it is none of what is transferred."""
        if any(h.candidates == frozenset({owner}) or self._program.root(h.source) == owner for h in transfers):
            return
        flags = self._rewritten.flags
        mine = [flags[owner]] if owner in flags else []
        flag = _joined("arith.andi", [*mine, *(self._is_other(h, owner, before) for h in transfers)], before)
        self._rewritten.free(owner, ir.InsertionPoint(before), before.location, flag)

    def _is_other(self, transfer: OwnershipTransfer, owner: int, before: ir.Operation) -> ir.Value:
        """Whether an operand is not the memory of `owner`: as its own flag tells if there is no third possibility."""
        root, flags = self._program.root(transfer.source), self._rewritten.flags
        if transfer.candidates == frozenset({root, owner}) and root in flags and owner not in flags:
            return flags[root]
        return self._compared("ne", transfer.source, owner, before)

    def _compared(self, how: str, a: int, b: int, before: ir.Operation) -> ir.Value:
        """Whether two memrefs begin at the same address, or not.

        Raises:
            BufferizationError: a `memref.view` may have moved the address that a memref has of its buffer.
        """
        roots = [self._program.root(buffer) for buffer in (a, b)]
        if not self._shifted.isdisjoint(roots):
            raise BufferizationError(
                "a memref that may be one of several buffers", expected="one that begins where its buffer does",
                got="one that may come from a `memref.view` with a shift",
                where=python_line(shifting(self._program, self._ownership)[0].operation.location),
                hint="pass on the memref that it is a view of",
            )  # fmt: skip
        index, read = ir.IndexType.get(), "memref.extract_aligned_pointer_as_index"
        values = (self._rewritten.value(root) for root in roots)
        first, second = (create(read, [value], [index], before=before).results[0] for value in values)
        return compared(how, first, second, before)


class OwnershipFlags:
    """Puts the flags of a function into its IR; `rewritten` tells what its records have become."""

    def __init__(self, program: BufferProgram, ownership: Ownership, lends: bool) -> None:
        self._program, self._slots, self._ownership = program, ownership.slots, ownership
        self._dynamic = {slot.number for slot in ownership.dynamic}
        self.rewritten = Rewritten(program, ownership)
        self._operand_flags = OperandFlags(program, ownership, self._dynamic, self.rewritten)
        self.copied: list[ReturnedCopy] = []
        passings, transferred = ownership.slots.passings, ownership.transfers.values()
        self._uncertain = {p.target for h in transferred if not h.certain for p in passings.get(h.key, ())}
        told = (h.slot.returned for h in ownership.transfers.values() if _may_be_lent(h))
        self.lent = tuple(sorted(set(told))) if lends else ()

    def run(self) -> None:
        """Widens every op that passes on a dynamic slot, outer ones first, and settles who owns at each transfer."""
        transferring = {key[0] for key in self._ownership.transfers}
        for slot in self._ownership.dynamic:
            self._add_arguments(slot)
        wide = {n for slot in self._ownership.dynamic for n in self._around(slot)}
        called = {self._program.buffers[buffer].producer for buffer in self._ownership.lent}
        for number in sorted(transferring | wide | called):
            op = self._program.ops[number]
            before = self.rewritten.op(number)
            if number in called:
                self._widen_call(op)
                continue
            flags = self._operand_flags.at(op, before)
            if number in wide:
                self._widen(op, flags)
            if op.name == RETURN:
                self._own_results(op, before, flags)
        if self.lent:
            _widen_signature(self._program.function, len(self.lent))

    def free(self, owner: int, at: ir.InsertionPoint, location: ir.Location) -> None:
        """Frees the buffer of an owner, if it has one."""
        self.rewritten.free(owner, at, location, self.rewritten.flags.get(owner))

    def _around(self, slot: OwnershipSlot) -> set[int]:
        """The ops that get an operand or a result more."""
        found = {key[0] for key in slot.keys}
        return found | {p for target in slot.targets if (p := self._program.buffers[target].producer) >= 0}

    def _add_arguments(self, slot: OwnershipSlot) -> None:
        for target in sorted(slot.targets):
            buffer = self._program.buffers[target]
            if buffer.producer < 0:
                block = cast(Any, buffer.value).owner
                self._tell(target, block.add_argument(_bit_type(), ir.Location.unknown()))

    def _tell(self, target: int, flag: ir.Value) -> None:
        """Notes the flag beside an argument or a result, unless it is always true."""
        if target in self._uncertain:
            self.rewritten.flags[target] = flag

    def _landing(self, values: Sequence[int]) -> list[OwnershipSlot]:
        """The dynamic slots among block arguments or results, in the order of their flags."""
        if not values:
            return []
        of_target, dynamic = self._slots.of_target, self._dynamic
        slots = {slot.number: slot for v in values if v in of_target and (slot := of_target[v]).number in dynamic}
        return [slots[number] for number in sorted(slots)]

    # Ops with flags

    def _widen(self, op: BufferOp, flags: dict[int, ir.Value]) -> None:
        """Makes an op again with the flags that it passes on, and those of its results."""
        old = self.rewritten.op(op.number)
        block = self._program.blocks[op.block]
        if block.branches and block.last == op.number:
            self.rewritten.replace(op, self._widened_branch(op, old, flags))
            return
        around, start = op, ENTRY
        if not op.edges and block.parent >= 0:
            around, start = self._program.ops[block.parent], block.region
        targets = [v for edge in around.edges if edge.start == start for v in self._targets(around, edge.end)]
        passed = [self._passed(op, slot, flags) for slot in self._landing(targets)]
        results = self._landing(op.results)
        new = self._with_flags(op, [*old.operands, *passed], len(results))
        if not results:
            return
        for slot, flag in zip(results, list(new.results)[len(op.results) :], strict=True):
            (target,) = (value for value in op.results if value in slot.targets)
            self._tell(target, flag)

    def _with_flags(self, op: BufferOp, operands: Sequence[ir.Value], count: int) -> ir.Operation:
        """An op made again with other operands, and with so many flags as results more."""
        old = self.rewritten.op(op.number)
        types = [result.type for result in old.results] if op.results else []
        new = widened(old, operands, [*types, *([_bit_type()] * count)] if count else types)
        self.rewritten.replace(op, new)
        return new

    def _targets(self, op: BufferOp, end: int) -> tuple[int, ...]:
        return op.results if end == EXIT else self._program.blocks[op.regions[end][0]].arguments

    def _passed(self, op: BufferOp, slot: OwnershipSlot, flags: dict[int, ir.Value]) -> ir.Value:
        """The flag that an op passes into a slot."""
        operands = [operand for number, operand in slot.keys if number == op.number]
        if len(operands) == 1:
            return flags[operands[0]]
        raise BufferizationError(
            f"memory that `{op.name}` passes on",
            expected="one operand for each argument and result",
            got=f"{len(operands)} operands for one",
            where=python_line(op.operation.location),
        )

    def _widened_branch(self, op: BufferOp, old: ir.Operation, flags: dict[int, ir.Value]) -> ir.Operation:
        branches = self._program.blocks[op.block].branches
        _, parts = operand_parts(old)
        for part, (successor, passed) in zip(parts, branches, strict=True):
            for slot in self._landing(self._program.blocks[successor].arguments):
                (operand,) = (o for o, a in passed if self._program.blocks[successor].arguments[a] in slot.targets)
                part.append(flags[operand])
        return remade_branch(old, parts)

    # What a function returns

    def _own_results(self, op: BufferOp, before: ir.Operation, flags: dict[int, ir.Value]) -> None:
        """Returns copies of what the function does not own, or flags that tell."""
        open_ = {h.key[1]: h for h in self._ownership.transfers.values() if h.key[0] == op.number and not h.certain}
        lent = {h.slot.returned: operand for operand, h in open_.items() if self.lent and _may_be_lent(h)}
        kept = {operand: h for operand, h in open_.items() if operand not in lent.values()}
        self.copied += copy_results(before, kept, flags, self._program.function)
        if self.lent:
            told = [flags[lent[i]] if i in lent else bit(True, before) for i in self.lent]
            self.rewritten.replace(op, create(op.name, [*before.operands, *told], [], before=before))

    def _widen_call(self, op: BufferOp) -> None:
        """A call of a function that lends, with the flags that it returns."""
        flagged = [value for value in op.results if value in self._ownership.lent]
        new = self._with_flags(op, list(self.rewritten.op(op.number).operands), len(flagged))
        for value, flag in zip(flagged, list(new.results)[len(op.results) :], strict=True):
            self.rewritten.flags[value] = flag


def _may_be_lent(transfer: OwnershipTransfer) -> bool:
    """Whether a result that a function may not own is memory that outlives it, so that a flag may say whose it is."""
    inside = transfer.candidates - {EXTERNAL}
    return transfer.slot.returned >= 0 and not transfer.certain and inside == frozenset(transfer.moved)


def flagged_results(program: BufferProgram, flagged: Mapping[str, Sequence[int]]) -> frozenset[int]:
    """The results of calls that come with a flag, as the functions of these names return them."""
    named = ((op, called_name(op.operation)) for op in program.ops) if any(flagged.values()) else ()
    return frozenset(op.results[i] for op, name in named if name is not None for i in flagged.get(name, ()))


def _widen_signature(function: ir.Operation, flags: int) -> None:
    """Gives the type of a function so many more results, which are flags."""
    known = signature(function)
    set_signature(function, replace(known, results=(*known.results, *formals([_bit_type()] * flags))))


def _bit_type() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def bit(value: bool, before: ir.Operation) -> ir.Value:
    return constant(int(value), _bit_type(), before)


def _joined(how: str, flags: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """All flags in one, by `arith.andi` or `arith.ori`."""
    found = flags[0]
    for flag in flags[1:]:
        found = create(how, [found, flag], [_bit_type()], before=before).results[0]
    return found
