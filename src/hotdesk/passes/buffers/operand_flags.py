"""Flags of operands: an `i1` in front of the op that passes a memref on, true if ownership comes with it.

A flag that is known on all paths is a constant. Where an operand may be the memory of several owners that end with it, addresses
tell which it was; what nobody took is freed there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership, OwnershipTransfer
from hotdesk.analysis.ownership.shifted_views import shifted, shifting
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.passes.buffers.remaking import bit, bit_type, joined
from hotdesk.passes.buffers.rewritten import Rewritten


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
        parts = [joined("arith.ori", known, before)] if len(known) == len(terms) else []
        parts += (self._compared("ne", transfer.source, rival.source, before) for rival in rivals)
        return joined("arith.andi", parts, before) if parts else bit(True, before)

    def _is_its(self, transfer: OwnershipTransfer, owner: int, before: ir.Operation) -> ir.Value | None:
        """Whether an operand is memory that `owner` owns; None if it certainly is."""
        flag = self._rewritten.flags.get(owner)
        if transfer.candidates == frozenset({owner}) or self._program.root(transfer.source) == owner:
            return flag
        same = self._compared("eq", transfer.source, owner, before)
        return same if flag is None else joined("arith.andi", [flag, same], before)

    def _free_untaken(self, owner: int, transfers: Sequence[OwnershipTransfer], before: ir.Operation) -> None:
        """Frees the buffer of an owner that ends here, if it is none of what is transferred."""
        if any(h.candidates == frozenset({owner}) or self._program.root(h.source) == owner for h in transfers):
            return
        flags = self._rewritten.flags
        mine = [flags[owner]] if owner in flags else []
        flag = joined("arith.andi", [*mine, *(self._is_other(h, owner, before) for h in transfers)], before)
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
        addresses = [create(read, [value], [index], before=before).results[0] for value in values]
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), {"eq": 0, "ne": 1}[how])
        return create("arith.cmpi", addresses, [bit_type()], {"predicate": predicate}, before=before).results[0]
