"""Puts the allocations of a function into one arena.

    %a = memref.alloc() : memref<8xf32>            %arena = memref.alloc() {alignment = 64} : memref<128xi8>
    …                                              %a = memref.view %arena[%c0][] : memref<128xi8> to memref<8xf32>
    memref.dealloc %a                       ->     …
    %b = memref.alloc() : memref<4xf64>            %b = memref.view %arena[%c64][] : memref<128xi8> to memref<4xf64>
    …                                              …
    memref.dealloc %b                              memref.dealloc %arena

Legal iff rules 1 to 4 of `analysis.merging` hold; what stays out is reported with the reason.

- `arena=allocate`: each function allocates its own. It is freed before each return if any of the allocations was freed;
  otherwise that is left to a deallocation pass, as it was.
- `arena=argument`: it is the last argument, `memref<N x i8>`, whose attribute `hotdesk.arena` has the alignment in bytes that the
  caller has to keep. A caller in the module allocates it around the call, and this allocation goes into the caller's arena like
  any other. Functions that call themselves, or are used otherwise than by calls, allocate their own.
- `alignment`: of each buffer, in bytes; an allocation that asks for more gets that.
- `strategy`: a strategy of the planner, `portfolio` for the best of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.call_graph import bottom_up
from hotdesk.analysis.merging import Arena, plan_arena
from hotdesk.errors import OptionError
from hotdesk.explain import Decision
from hotdesk.ir.building import create
from hotdesk.ir.functions import Uses, find_uses, rebuild_call, returns_of, set_signature, signature
from hotdesk.ir.walking import entry_block, symbol_name
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.share import byte_view, new_bytes
from hotdesk.planning import NO_REUSE, STRATEGIES

ARENA = "hotdesk.arena"
_MODES = ("argument", "allocate")


@dataclass(frozen=True, slots=True)
class MergeAllocations(Pass):
    """Plans one arena for each function (rules in `analysis.merging`)."""

    name: ClassVar[str] = "hotdesk-merge-allocations"
    arena: str = "allocate"
    alignment: int = 64
    strategy: str = "portfolio"

    def __post_init__(self) -> None:
        if self.arena not in _MODES:
            raise OptionError(f"option 'arena' of '{self.name}'", expected=" or ".join(_MODES), got=repr(self.arena))
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise OptionError(
                f"option 'alignment' of '{self.name}'", expected="a power of two", got=str(self.alignment)
            )
        names = (*STRATEGIES, NO_REUSE)
        if self.strategy not in names:
            raise OptionError(
                f"option 'strategy' of '{self.name}'", expected=" or ".join(names), got=repr(self.strategy)
            )

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        uses: Mapping[str, Uses] = find_uses(module) if self.arena == "argument" else {}
        for each in bottom_up(module):
            arena = plan_arena(each.function, self.alignment, self.strategy)
            decisions.extend(arena.decisions)
            if arena.bytes:
                passed = self.arena == "argument" and not each.recursive
                _merge(each.function, arena, uses if passed else None)
            elif arena.merged:
                _merge(each.function, arena, None)
        return tuple(decisions)


def _merge(function: ir.Operation, arena: Arena, uses: Mapping[str, Uses] | None) -> None:
    """Makes the arena, an argument if the uses of functions are given and allow that, and puts the allocations there."""
    found = None if uses is None else uses.get(symbol_name(function), Uses())
    first = next(iter(entry_block(function).operations)).operation
    if found is not None and not found.others:
        memory = _as_argument(function, arena, found)
    else:
        memory = new_bytes(arena.bytes, [], arena.alignment, first)
        for end in returns_of(function) if any(each.frees for each in arena.merged) else []:
            create("memref.dealloc", [memory], [], before=end)
    for each in arena.merged:
        for free in each.frees:
            free.erase()
        each.op.results[0].replace_all_uses_with(byte_view(memory, each.op, each.offset))
        each.op.erase()


def _as_argument(function: ir.Operation, arena: Arena, uses: Uses) -> ir.Value:
    memref = ir.MemRefType.get([arena.bytes], ir.IntegerType.get_signless(8))
    attributes = {ARENA: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), arena.alignment)}
    memory = entry_block(function).add_argument(memref, function.location)
    set_signature(function, [(memref, attributes)], range(len(signature(function)[1])))
    for call in uses.calls:
        given = new_bytes(arena.bytes, [], arena.alignment, call)
        new = rebuild_call(call, [*call.operands, given], range(len(call.results)))
        create("memref.dealloc", [given], [], before=new).move_after(new)
        call.erase()
    return memory
