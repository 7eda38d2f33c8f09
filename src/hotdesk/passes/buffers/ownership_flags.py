"""Ownership at run time: an `i1` beside each memref that is owned on some paths only.

    scf.yield %a : memref<8xf32>      ->      scf.yield %a, %true : memref<8xf32>, i1

Block arguments and results of a dynamic slot get a flag after their others; branches and terminators pass one on. A flag that is
known on all paths is not made: static owners need none. A function that *lends* returns a flag beside each result that it may not
own, instead of a copy. Where an operand may be the memory of several owners that end with it,
pointers tell which it was; what nobody took is freed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.handovers import Slot
from hotdesk.analysis.ownership import EXTERNAL, Handover, Ownership
from hotdesk.analysis.region_graph import ENTRY, EXIT
from hotdesk.analysis.shifted_views import shifted, shifting
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_bytes, element_of
from hotdesk.passes.buffers.branch_edges import operand_parts, remade_branch
from hotdesk.passes.buffers.critical_aliases import copy_of


@dataclass(frozen=True, slots=True)
class ReturnedCopy:
    """A result of `size` bytes that is copied, at least on some paths; `twice` if another result may be the same buffer."""

    size: Size
    twice: bool
    location: str

    @classmethod
    def of(cls, value: ir.Value, twice: bool, end: ir.Operation, function: ir.Operation) -> ReturnedCopy:
        """The copy of what `end` returns."""
        size = product([*SymbolicSizes(function).shape(value), element_bytes(element_of(value.type))])
        return cls(size, twice, python_line(end.location))


class OwnershipFlags:
    """Puts the flags of a function into its IR; `ops` and `values` tell what its records have become."""

    def __init__(self, program: BufferProgram, ownership: Ownership, lends: bool) -> None:
        self._program, self._slots, self._ownership = program, ownership.slots, ownership
        self._dynamic = {slot.number for slot in ownership.dynamic}
        self._flags: dict[int, ir.Value] = {}
        self._replaced_ops: dict[int, ir.Operation] = {}
        self._replaced_values: dict[int, ir.Value] = {}
        self.copied: list[ReturnedCopy] = []
        uncertain = (h for h in ownership.handovers.values() if not (h.certain or h.claimed))
        self.lent = tuple(sorted({h.slot.returned for h in uncertain if h.slot.returned >= 0})) if lends else ()

    def op(self, number: int) -> ir.Operation:
        return self._replaced_ops.get(number) or self._program.ops[number].operation

    def value(self, buffer: int) -> ir.Value:
        found = self._replaced_values.get(buffer)
        return self._program.buffers[buffer].value if found is None else found

    def run(self) -> None:
        """Widens every op that passes on a dynamic slot, outer ones first, and settles who owns at each handover."""
        handing = {key[0] for key in self._ownership.handovers}
        for slot in self._ownership.dynamic:
            self._add_arguments(slot)
        wide = {n for slot in self._ownership.dynamic for n in self._around(slot)}
        called = {self._program.buffers[buffer].producer for buffer in self._ownership.lent}
        for number in sorted(handing | wide | called):
            op = self._program.ops[number]
            before = self.op(number)
            if number in called:
                self._widen_call(op)
                continue
            flags = self._flags_at(op, before)
            if number in wide:
                self._widen(op, flags)
            if op.name == "func.return":
                self._own_results(op, before, flags)
        if self.lent:
            _widen_signature(self._program.function, len(self.lent))

    def free(self, owner: int, at: ir.InsertionPoint, location: ir.Location) -> None:
        """Frees the buffer of an owner, if it has one."""
        self._free_if(self._flags.get(owner), owner, at, location)

    def _free_if(self, flag: ir.Value | None, owner: int, at: ir.InsertionPoint, location: ir.Location) -> None:
        with at, location:
            if flag is not None:
                choice = ir.Operation.create("scf.if", operands=[flag], regions=2)
                with ir.InsertionPoint(choice.regions[0].blocks.append()):
                    ir.Operation.create("memref.dealloc", operands=[self.value(owner)])
                    ir.Operation.create("scf.yield")
            else:
                ir.Operation.create("memref.dealloc", operands=[self.value(owner)])

    def _around(self, slot: Slot) -> set[int]:
        """The ops that get an operand or a result more."""
        found = {key[0] for key in slot.keys}
        return found | {p for target in slot.targets if (p := self._program.buffers[target].producer) >= 0}

    def _add_arguments(self, slot: Slot) -> None:
        for target in sorted(slot.targets):
            buffer = self._program.buffers[target]
            if buffer.producer < 0:
                block = cast(Any, buffer.value).owner
                self._flags[target] = block.add_argument(ir.IntegerType.get_signless(1), ir.Location.unknown())

    def _landing(self, values: Sequence[int]) -> list[Slot]:
        """The dynamic slots among block arguments or results, in the order of their flags."""
        slots = {slot.number: slot for v in values if (slot := self._slots.of_target.get(v)) is not None}
        return [slots[n] for n in sorted(slots) if n in self._dynamic]

    @cached_property
    def _shifted(self) -> frozenset[int]:
        return shifted(self._program, self._ownership)

    # Who owns what is handed over

    def _flags_at(self, op: BufferOp, before: ir.Operation) -> dict[int, ir.Value]:
        """By operand, whether ownership comes with it; and the buffers freed that nobody took."""
        handovers = [
            self._ownership.handovers[key]
            for key in self._slots.keys_at.get(op.number, ())
            if key in self._ownership.handovers
        ]
        flags = {
            h.key[1]: self._flag(h, handovers, before)
            for h in handovers
            if h.slot.number in self._dynamic or (h.slot.returned >= 0 and not h.certain)
        }
        for owner in dict.fromkeys(c for h in handovers for c in h.moved):
            self._free_untaken(owner, [h for h in handovers if owner in h.moved or owner in dict(h.claimed)], before)
        return flags

    def _flag(self, handover: Handover, handovers: Sequence[Handover], before: ir.Operation) -> ir.Value:
        """Whether ownership comes with an operand: one of the owners that end here has it, and no other operand takes it."""
        if handover.certain:
            return _bit(True, before)
        firsts = {h.key: h for h in handovers}
        open_claims = [(owner, firsts[key]) for owner, key in handover.claimed if len(firsts[key].candidates) > 1]
        owners = [*handover.moved, *(owner for owner, _ in open_claims)]
        rivals = list({first.key: first for _, first in open_claims}.values())
        if not owners or any(rival.source == handover.source for rival in rivals):
            return _bit(False, before)
        terms = [self._is_its(handover, owner, before) for owner in owners]
        if EXTERNAL not in handover.candidates and len(owners) == len(handover.candidates):
            terms = [None]  # one of them it is
        known = [term for term in terms if term is not None]
        parts = [_joined("arith.ori", known, before)] if len(known) == len(terms) else []
        parts += (self._compared("ne", handover.source, rival.source, before) for rival in rivals)
        return _joined("arith.andi", parts, before) if parts else _bit(True, before)

    def _is_its(self, handover: Handover, owner: int, before: ir.Operation) -> ir.Value | None:
        """Whether an operand is memory that `owner` owns; None if it certainly is."""
        flag = self._flags.get(owner)
        if handover.candidates == frozenset({owner}) or self._program.root(handover.source) == owner:
            return flag
        same = self._compared("eq", handover.source, owner, before)
        return same if flag is None else _joined("arith.andi", [flag, same], before)

    def _free_untaken(self, owner: int, handovers: Sequence[Handover], before: ir.Operation) -> None:
        """Frees the buffer of an owner that ends here, if it is none of what is handed over."""
        if any(h.candidates == frozenset({owner}) or self._program.root(h.source) == owner for h in handovers):
            return
        mine = [self._flags[owner]] if owner in self._flags else []
        flag = _joined("arith.andi", [*mine, *(self._is_other(h, owner, before) for h in handovers)], before)
        self._free_if(flag, owner, ir.InsertionPoint(before), before.location)

    def _is_other(self, handover: Handover, owner: int, before: ir.Operation) -> ir.Value:
        """Whether an operand is not the memory of `owner`: as its own flag tells if there is no third possibility."""
        root = self._program.root(handover.source)
        if handover.candidates == frozenset({root, owner}) and root in self._flags and owner not in self._flags:
            return self._flags[root]
        return self._compared("ne", handover.source, owner, before)

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
                where=python_line(shifting(self._program, self._ownership)[0].operation.location) or None,
                hint="pass on the memref that it is a view of",
            )  # fmt: skip
        index, read = ir.IndexType.get(), "memref.extract_aligned_pointer_as_index"
        values = (self.value(root) for root in roots)
        addresses = [create(read, [value], [index], before=before).results[0] for value in values]
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), {"eq": 0, "ne": 1}[how])
        return create("arith.cmpi", addresses, [_bits()], {"predicate": predicate}, before=before).results[0]

    # Ops with flags

    def _widen(self, op: BufferOp, flags: dict[int, ir.Value]) -> None:
        """Makes an op again with the flags that it passes on, and those of its results."""
        old = self.op(op.number)
        block = self._program.blocks[op.block]
        if block.branches and block.last == op.number:
            new = self._widened_branch(op, old, flags)
        else:
            targets = [value for edge in op.edges if edge.start == ENTRY for value in self._targets(op, edge.end)]
            if not op.edges and block.parent >= 0:
                parent = self._program.ops[block.parent]
                leaving = [e for e in parent.edges if e.start == block.region]
                targets = [value for edge in leaving for value in self._targets(parent, edge.end)]
            passed = [self._passed(op, slot, flags) for slot in self._landing(targets)]
            results = self._landing(op.results)
            types = [*(r.type for r in old.results), *([_bits()] * len(results))]
            new = _remade(old, [*old.operands, *passed], types)
            self._take_over(op, old, new)
            for slot, flag in zip(results, list(new.results)[len(old.results) :], strict=True):
                (target,) = (value for value in op.results if value in slot.targets)
                self._flags[target] = flag
        self._replaced_ops[op.number] = new
        old.erase()

    def _targets(self, op: BufferOp, end: int) -> tuple[int, ...]:
        return op.results if end == EXIT else self._program.blocks[op.regions[end][0]].arguments

    def _passed(self, op: BufferOp, slot: Slot, flags: dict[int, ir.Value]) -> ir.Value:
        """The flag that an op passes into a slot."""
        operands = [operand for number, operand in slot.keys if number == op.number]
        if len(operands) == 1:
            return flags[operands[0]]
        raise BufferizationError(
            f"memory that `{op.name}` passes on",
            expected="one operand for each argument and result",
            got=f"{len(operands)} operands for one",
            where=python_line(op.operation.location) or None,
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
        lent: dict[int, ir.Value] = {}
        for handover in self._ownership.handovers.values():
            if handover.key[0] != op.number or handover.certain:
                continue
            operand = handover.key[1]
            value = before.operands[operand]
            if handover.slot.returned in self.lent and not handover.claimed:
                lent[handover.slot.returned] = flags[operand]
                continue
            never = not (handover.moved or handover.claimed) or _is_false(flags[operand])
            self.copied.append(ReturnedCopy.of(value, bool(handover.claimed), before, self._program.function))
            if never:
                _erase_unused(flags[operand])
                before.operands[operand] = copy_of(value, before)
                continue
            choice = create("scf.if", [flags[operand]], [value.type], regions=2, before=before)
            for region, owned in zip(choice.regions, (True, False), strict=True):
                with ir.InsertionPoint(region.blocks.append()), before.location:
                    end = ir.Operation.create("scf.yield", operands=[value])
                if not owned:
                    end.operands[0] = copy_of(value, end.operation)
            before.operands[operand] = choice.results[0]
        if self.lent:
            told = [lent[i] if i in lent else _bit(True, before) for i in self.lent]
            self._replaced_ops[op.number] = create(op.name, [*before.operands, *told], [], before=before)
            before.erase()

    def _widen_call(self, op: BufferOp) -> None:
        """A call of a function that lends, with the flags that it returns."""
        old = self.op(op.number)
        flagged = [value for value in op.results if value in self._ownership.lent]
        new = _remade(old, list(old.operands), [*(r.type for r in old.results), *([_bits()] * len(flagged))])
        self._take_over(op, old, new)
        for value, flag in zip(flagged, list(new.results)[len(old.results) :], strict=True):
            self._flags[value] = flag
        old.erase()

    def _take_over(self, op: BufferOp, old: ir.Operation, new: ir.Operation) -> None:
        """Puts an op's first results in the place of an old one's."""
        for before, after in zip(old.results, list(new.results)[: len(old.results)], strict=True):
            before.replace_all_uses_with(after)
        self._replaced_values.update((value, new.results[i]) for i, value in enumerate(op.results) if value >= 0)
        self._replaced_ops[op.number] = new


def flagged_results(program: BufferProgram, flagged: Mapping[str, Sequence[int]]) -> frozenset[int]:
    """The results of calls that come with a flag, as the functions of these names return them."""
    calls = (op for op in program.ops if op.name == "func.call") if any(flagged.values()) else ()
    named = ((op, str(cast(Any, op.operation.attributes["callee"]).value)) for op in calls)
    return frozenset(op.results[i] for op, name in named for i in flagged.get(name, ()))


def _widen_signature(function: ir.Operation, flags: int) -> None:
    kind = cast(Any, function.attributes["function_type"]).value
    types = [*kind.results, *([_bits()] * flags)]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(kind.inputs), types))
    if "res_attrs" in function.attributes:
        told = [*cast(Any, function.attributes["res_attrs"]), *([ir.DictAttr.get({})] * flags)]
        function.attributes["res_attrs"] = ir.ArrayAttr.get(told)


def _remade(old: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]) -> ir.Operation:
    attributes = {name: old.attributes[name] for name in old.attributes}
    new = create(old.name, operands, types, attributes, regions=len(old.regions), before=old)
    for old_region, new_region in zip(old.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    return new


def _joined(how: str, flags: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """All flags in one, by `arith.andi` or `arith.ori`."""
    found = flags[0]
    for flag in flags[1:]:
        found = create(how, [found, flag], [_bits()], before=before).results[0]
    return found


def _bits() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def _bit(value: bool, before: ir.Operation) -> ir.Value:
    number = ir.IntegerAttr.get(_bits(), int(value))
    return create("arith.constant", [], [_bits()], {"value": number}, before=before).results[0]


def _erase_unused(flag: ir.Value) -> None:
    if next(iter(flag.uses), None) is None and not isinstance(flag.owner, ir.Block):
        flag.owner.operation.erase()


def _is_false(flag: ir.Value) -> bool:
    owner = flag.owner
    if isinstance(owner, ir.Block):
        return False
    op = cast(Any, owner).operation
    return op.name == "arith.constant" and not bool(op.attributes["value"].value)
