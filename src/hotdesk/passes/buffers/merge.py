"""Puts the allocations of a function into one arena.

    %a = memref.alloc() : memref<8xf32>            %arena = memref.alloc() {alignment = 64} : memref<128xi8>
    …                                              %a = memref.view %arena[%c0][] : memref<128xi8> to memref<8xf32>
    memref.dealloc %a                       ->     …
    %b = memref.alloc() : memref<4xf64>            %b = memref.view %arena[%c64][] : memref<128xi8> to memref<4xf64>
    …                                              …
    memref.dealloc %b                              memref.dealloc %arena

Legal iff rules 1 to 6 of `analysis.allocations.merging` hold; what stays out is reported with the reason. Where sizes are
dynamic, offsets and the size of the arena are computed in front of it:

    %a = memref.alloc(%n) : memref<?xf64>           %s = arith.muli %c8, %n
    …                                               %t = (%s + 63) & -64
    %b = memref.alloc(%m) : memref<?xi8>     ->     %arena = memref.alloc(%t + ((%m + 63) & -64)) {alignment = 64} : memref<?xi8>
                                                    %a = memref.view %arena[%c0][%n];  %b = memref.view %arena[%t][%m]

With `arena=allocate`, each function allocates its own, in front of its first allocation. It is freed before each return if any of
the allocations was freed; otherwise that is left to a deallocation pass, as it was.

With `arena=argument`, it is the last argument, `memref<N x i8>`, whose attribute `hotdesk.arena` has the alignment in bytes that
the caller has to keep. If N is dynamic, `hotdesk.arena_bytes` of a public function names a function that takes the other
arguments and returns N. A caller in the module allocates it around the call, and this allocation goes into the caller's arena
like any other. Functions that call themselves, or are used otherwise than by calls, allocate their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.arena_sizes import ArenaSizes
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.merging import ArenaPlan, plan_arena
from hotdesk.errors import MissingExtraError, OptionError
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.functions import (
    Uses,
    find_uses,
    is_private,
    rebuild_call,
    returns_of,
)
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import DYNAMIC
from hotdesk.ir.walking import entry_block, modules, symbol_name
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.arena_code import ArenaCode, make_size_function
from hotdesk.passes.buffers.share import byte_view, new_bytes
from hotdesk.passes.properties import VIEWS_FIT, Property
from hotdesk.planning import NO_REUSE, STRATEGIES
from hotdesk.planning.placement import cpsat
from hotdesk.planning.sizes.symbolic_offsets import Extent
from hotdesk.program.calls import bottom_up

_MODES = ("argument", "allocate")


@dataclass(frozen=True, slots=True)
class MergeAllocations(Pass):
    """Plans one arena for each function (rules in `analysis.allocations.merging`).

    Options:
        arena: `allocate`, each function allocates its own, or `argument`, it is the last argument.
        alignment: of each buffer, in bytes; an allocation that asks for more gets that.
        strategy: a strategy of the planner, `portfolio` for the best of several; `cp-sat` needs the package `ortools`.
    """

    name: ClassVar[str] = "hotdesk-merge-allocations"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.PLACED_IN_ARENA,
        Reason.DIFFERENT_LAYOUT,
        Reason.FREED_ELSEWHERE,
        Reason.OTHER_MEMORY_SPACE,
        Reason.SIZE_DEFINED_BELOW,
        Reason.TOO_LARGE,
        Reason.UNSIZED_ELEMENT,
        Reason.KEPT_BETWEEN_ITERATIONS,
        Reason.KEPT_BY_UNKNOWN,
        Reason.LEAVES_SCOPE,
        Reason.PARALLEL_ITERATIONS,
        Reason.UNKNOWN_REGION,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_KNOWN_TO_MOVE,
        Reason.NOT_ORDINARY_MEMORY,
    )
    arena: str = "allocate"
    alignment: int = 64
    strategy: str = "portfolio"

    def ensures(self) -> tuple[Property, ...]:
        return (VIEWS_FIT,)

    def __post_init__(self) -> None:
        if self.arena not in _MODES:
            raise OptionError(f"option 'arena' of '{self.name}'", expected=" or ".join(_MODES), got=repr(self.arena))
        if not 1 <= self.alignment < 1 << 63 or self.alignment & (self.alignment - 1):
            raise OptionError(
                f"option 'alignment' of '{self.name}'", expected="a power of two", got=str(self.alignment)
            )
        names = (*STRATEGIES, NO_REUSE)
        if self.strategy not in names:
            raise OptionError(
                f"option 'strategy' of '{self.name}'", expected=" or ".join(names), got=repr(self.strategy)
            )

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        if self.strategy == "cp-sat" and not cpsat.available():
            raise MissingExtraError.of(f"option 'strategy' of '{self.name}'", "exact", "ortools")
        return tuple(decision for each in modules(module) for decision in self._run(each))

    def _run(self, module: ir.Module) -> list[Decision]:
        decisions: list[Decision] = []
        uses: Mapping[str, Uses] = find_uses(module) if self.arena == "argument" else {}
        symbols = Symbols()
        freeing_calls = FreeingCalls()
        for each in bottom_up(module):
            used = uses.get(symbol_name(each.function), Uses())
            by_caller = self.arena == "argument" and not each.recursive and not used.others
            sizes = ArenaSizes(each.function, by_caller=by_caller)
            arena = plan_arena(each.function, sizes, self.alignment, self.strategy, freeing_calls)
            decisions.extend(arena.decisions)
            if arena.merged:
                given = by_caller and arena.bytes != Extent()
                _merge(each.function, arena, sizes, _Callers(used.calls, symbols) if given else None)
        return decisions


@dataclass(frozen=True, slots=True)
class _Callers:
    """The calls of a function, and names for new ones."""

    calls: Sequence[ir.Operation]
    symbols: Symbols


def _merge(function: ir.Operation, arena: ArenaPlan, sizes: ArenaSizes, callers: _Callers | None) -> None:
    """Makes the arena, an argument if the callers are given, and puts the allocations there."""
    code = ArenaCode(arena, sizes)
    if callers is not None:
        memory = _as_argument(function, arena, sizes, code, callers)
    else:
        total = [] if code.bytes is None else [code.bytes]
        memory = new_bytes(_count(arena), total, arena.alignment, sizes.before)
        for end in returns_of(function) if any(each.frees for each in arena.merged) else []:
            create("memref.dealloc", [memory], [], before=end)
    for each, offset in zip(arena.merged, code.offsets, strict=True):
        for free in each.frees:
            free.erase()
        at = index_constant(each.offset.constant, each.op) if offset is None else offset
        each.op.results[0].replace_all_uses_with(byte_view(memory, each.op, at))
        each.op.erase()
    code.erase_unused()


def _count(arena: ArenaPlan) -> int:
    """The size of the arena in its type."""
    return DYNAMIC if arena.bytes.parts else arena.bytes.constant


def _as_argument(
    function: ir.Operation, arena: ArenaPlan, sizes: ArenaSizes, code: ArenaCode, callers: _Callers
) -> ir.Value:
    memref = ir.MemRefType.get([_count(arena)], ir.IntegerType.get_signless(8))
    argument = Formal(memref).stating(arena=arena.alignment)
    total = [] if code.bytes is None else [code.bytes]
    if total and not is_private(function):
        name = callers.symbols.named(function, f"{symbol_name(function)}_arena_bytes")
        make_size_function(name, function, total[0], sizes)
        argument = argument.stating(sized_by=name)
    for call in callers.calls:
        bytes_there = sizes.recomputation.compute(total, call, list(call.operands))
        given = new_bytes(_count(arena), bytes_there, arena.alignment, call)
        new = rebuild_call(call, [*range(len(call.operands)), given], range(len(call.results)))
        create("memref.dealloc", [given], [], before=new).move_after(new)
        call.erase()
    memory = entry_block(function).add_argument(memref, function.location)
    set_signature(function, signature(function).with_arguments([argument]))
    return memory
