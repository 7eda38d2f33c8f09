"""In which order a function on memrefs touches its arguments: whether a caller may give it one piece of memory as two of them.

An argument may have the memory of another one, the *result*, whose contents on entry are not wanted, iff

1. the function has a body of one block, in which all that touches the argument comes before all that touches the result: both are
   counted in that block, so that a loop that touches both inside touches both at once. The last op that touches the argument may
   write the result all the same if it reads each element where it writes it: of a `linalg` op, by the rule on tensors
   (`Facts.elementwise`), from memrefs that begin where the two begin, in row-major order, with as many bytes in an element;
2. the function neither keeps, returns nor frees either of them, and no memref of it may be the one or the other;
3. no op in it counts on the alignment of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.ranges import is_touching
from hotdesk.analysis.allocations.types import counts_on_alignment
from hotdesk.analysis.allocations.uses import Allocations, bytes_of_element
from hotdesk.explain import Reason
from hotdesk.ir.types import is_row_major, is_strided
from hotdesk.ir.walking import entry_block
from hotdesk.models.func import RETURN
from hotdesk.models.generics import is_linalg
from hotdesk.models.memory_effects import Effects, overwritten, payload_effects, read_as_written
from hotdesk.models.new_memory import freed


@dataclass(frozen=True, slots=True)
class _Touched:
    """The memrefs that may be an argument, the ops of the entry block that touch it first and last, -1 if none does, and why its
    memory may not be that of another one, with the op that is the reason."""

    aliases: frozenset[int]
    first: int = -1
    last: int = -1
    refusal: tuple[Reason, ir.Operation] | None = None


class ArgumentOrder:
    """Answers for one function; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, freeing: FreeingCalls) -> None:
        self._function, self._freeing = function, freeing
        self._allocations: Allocations | None = None
        self._known: dict[int, _Touched] = {}

    def why_not(self, argument: int, result: int) -> tuple[Reason, ir.Operation] | None:
        """Why an argument may not have the memory of a result, and the op that is the reason; None if it may."""
        blocks = len(self._function.regions[0].blocks)
        if blocks != 1:
            return (Reason.USED_ACROSS_BLOCKS if blocks else Reason.NO_BODY), self._function
        one, other = self._touched(argument), self._touched(result)
        refusal = one.refusal or other.refusal
        if refusal is not None:
            return refusal
        if one.aliases & other.aliases:
            return Reason.CALLEE_KEEPS_ARGUMENT, self._function
        read_over = one.last == other.first >= 0 and self._is_read_as_written(one, other)
        if not read_over and one.last >= 0 and 0 <= other.first <= one.last:
            return Reason.CALLEE_KEEPS_ARGUMENT, self._read().program.ops[one.last].operation
        return None

    def _is_read_as_written(self, argument: _Touched, result: _Touched) -> bool:
        """Whether the op that touches both reads the argument element by element where it writes the result, and that never."""
        op = self._read().program.ops[argument.last]
        if not is_linalg(op.operation) or payload_effects(op.operation) != Effects():
            return False
        read, written = read_as_written(op.operation), overwritten(op.operation)
        sizes: set[int] = set()
        for number, buffer in enumerate(op.operands):
            if buffer not in argument.aliases | result.aliases:
                continue
            memref = op.operation.operands[number]
            element_by_element = number in (read if buffer in argument.aliases else written)
            if not element_by_element or not self._is_in_order_from_start(memref):
                return False
            sizes.add(bytes_of_element(memref.type))
        return len(sizes) == 1 and 0 not in sizes

    def _is_in_order_from_start(self, memref: ir.Value) -> bool:
        """Whether a memref is row-major, and begins where the argument does that it shows."""
        if not is_strided(memref.type) or not is_row_major(memref.type):
            return False
        view = self._read().views.view(memref)
        return view.known and cast(object, view.offset) == 0 and view.base in entry_block(self._function).arguments

    def _read(self) -> Allocations:
        if self._allocations is None:
            self._allocations = Allocations(self._function, self._freeing)
        return self._allocations

    def _touched(self, argument: int) -> _Touched:
        if argument not in self._known:
            self._known[argument] = self._find(argument)
        return self._known[argument]

    def _find(self, argument: int) -> _Touched:
        allocations = self._read()
        program, origins = allocations.program, allocations.origins
        number = program.numbers[entry_block(self._function).arguments[argument]]
        aliases = frozenset(b.number for b in program.buffers if number in origins.of[b.number])
        users = sorted({user for alias in aliases for user in program.users[alias]})
        touching: list[int] = []
        for user in users:
            op = program.ops[user]
            kept = op.name == RETURN or not aliases.isdisjoint(origins.kept.get(user, ()))
            frees = any(op.operands[i] in aliases for i in freed(op.operation)) or self._freeing.include(op.operation)
            if kept or frees:
                return _Touched(aliases, refusal=(Reason.CALLEE_KEEPS_ARGUMENT, op.operation))
            if counts_on_alignment(op.operation):
                return _Touched(aliases, refusal=(Reason.ALIGNMENT_ASSUMED, op.operation))
            if is_touching(allocations, op):
                touching.append(user)
        tops = [allocations.program.within(user, program.blocks[0].number) for user in touching]
        known = [top for top in tops if top is not None]
        return _Touched(aliases, min(known, default=-1), max(known, default=-1))
