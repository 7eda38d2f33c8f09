"""Moves allocations up to where every path to one of their uses comes by.

    ^bb0: cf.cond_br %c, ^bb1, ^bb2                               ^bb0: %0 = memref.alloc() : memref<2xf32>
    ^bb1: cf.br ^bb3(%x)                                                cf.cond_br %c, ^bb1, ^bb2
    ^bb2: %0 = memref.alloc() : memref<2xf32>             ->      ^bb1: cf.br ^bb3(%x)
          …                                                       ^bb2: …
          cf.br ^bb3(%0)                                                cf.br ^bb3(%0)
    ^bb3(%1):                                                     ^bb3(%1):

So a deallocation pass needs one place and no ownership flag. Legal iff the rules for "above its uses" of
`analysis.allocations.hoisting` hold; what cannot move is reported with the reason. Run it before deallocation: what somebody
frees, keeps or returns stays. On the paths that did not allocate before, a dynamic size is at least 0 (`arith.maxsi`), since
nothing there says so.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.hoisting import Hoisting, Move
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.walking import all_functions
from hotdesk.passes.base import Pass


class AllocationMoves(Pass):
    """A pass that moves allocations to where `analysis.allocations.hoisting` says of each that it may stand."""

    @abstractmethod
    def moves(self, hoisting: Hoisting) -> list[Move | Decision | None]:
        """What is decided of the allocations of a function."""

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        freeing = FreeingCalls()
        return tuple(
            decision
            for function in all_functions(module)
            for decision in _move_all(self.moves(Hoisting(function, freeing)))
        )


@dataclass(frozen=True, slots=True)
class BufferHoisting(AllocationMoves):
    """Moves allocations above all their uses (rules in `analysis.allocations.hoisting`)."""

    name: ClassVar[str] = "hotdesk-buffer-hoisting"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.DOMINATES_ALL_USES,
        Reason.FREED_ELSEWHERE,
        Reason.KEPT_BETWEEN_ITERATIONS,
        Reason.KEPT_BY_UNKNOWN,
        Reason.LEAVES_SCOPE,
        Reason.SIZE_DEFINED_BELOW,
        Reason.UNKNOWN_REGION,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_KNOWN_TO_MOVE,
    )

    def moves(self, hoisting: Hoisting) -> list[Move | Decision | None]:
        return [hoisting.above_uses(each) for each in hoisting.allocations.on_heap]


def _move_all(found: list[Move | Decision | None]) -> list[Decision]:
    """Moves what may move; returns all decisions."""
    for each in found:
        if isinstance(each, Move):
            _move(each)
    return [each.decision if isinstance(each, Move) else each for each in found if each is not None]


def _move(move: Move) -> None:
    move.op.move_before(move.before)
    for position in move.unsure:
        size = move.op.operands[position]
        zero = index_constant(0, move.op)
        move.op.operands[position] = create("arith.maxsi", [size, zero], [size.type], before=move.op).results[0]
    if move.after is not None:
        for free in reversed(move.frees):
            free.move_after(move.after)
