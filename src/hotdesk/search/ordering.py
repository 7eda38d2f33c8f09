"""The order of a program's operations, changed only where that makes the arena smaller, and never larger.

`hotdesk-reorder-for-peak` estimates; what counts is the plan. So both orders are bufferized and planned to the end, on copies of
the module, by the planner that calls will use. The given order stays unless the other one

1. needs fewer bytes, or with sizes that vary, fewer for one of some shapes and more for none of them;
2. with sizes that vary, is proven to need no more for any sizes in range, with what results and donated inputs lend
   (`runtime.plans.comparing`);
3. does not raise what `program.memory` says of the worst case over the ranges that were declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import main_function
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.pipeline import Log, run_pass
from hotdesk.runtime.plans.comparing import never_larger
from hotdesk.runtime.plans.planner import Planner
from hotdesk.search.trials import Bufferized, bufferized, changed
from hotdesk.sizes.expressions import expand
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Bounds, Size, evaluate

SAMPLES = (8, 64, 512)
"""What all symbolic sizes are taken to be, as far as the program takes them, beside the ends of their ranges."""

_LARGE = 4096
"""What a size without a greatest value is taken to be where others are small."""


@dataclass(frozen=True)
class MemoryNeeds:
    """What a module takes once it is bufferized: its planner, and the bytes of its results that lie in no donated input."""

    made: Bufferized
    bounds: Bounds

    @cached_property
    def planner(self) -> Planner:
        return Planner(self.made, self.bounds)

    def at(self, symbols: Mapping[str, int]) -> tuple[int, int] | None:
        """Bytes of the arena, and of the results; None where buffers of these sizes are beyond all memory."""
        arena = self.planner.arena(symbols)
        if arena is None:
            return None
        outputs = sum(max(0, evaluate(self.made.buffers[place].bytes, symbols)) for place in self.made.results)
        return arena, outputs

    @property
    def outputs(self) -> Size:
        """Bytes of the results."""
        return expand(sum(self.made.buffers[place].bytes for place in self.made.results))


@dataclass(frozen=True, slots=True)
class LowerPeak:
    """Reorders a module on tensors, before destinations are chosen.

    `bounds` are the least and greatest value of each symbol, `names` symbols by the names of their dimensions, for decisions.
    """

    bounds: Bounds
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, module: ir.Module, log: Log) -> None:
        """Changes the module if that makes its arena smaller; the decisions go to the log."""
        with entered(module.operation):
            other, decisions = changed(module, ReorderForPeak())
            if not any(decision.outcome is Outcome.REORDERED for decision in decisions):
                log.decisions.extend(decisions)
                return
            decision = self._decided(module, self.needs(module), self.needs(other))
            if decision.outcome is Outcome.REORDERED:
                log.decisions.extend(run_pass(ReorderForPeak(), module, log))
            log.decisions.append(decision)

    def needs(self, module: ir.Module) -> MemoryNeeds:
        """What a module takes once it is bufferized. Changes nothing."""
        return MemoryNeeds(bufferized(module), self.bounds)

    def _decided(self, module: ir.Module, given: MemoryNeeds, other: MemoryNeeds) -> Decision:
        """Whether the other order is taken."""
        function = main_function(module)
        because = (source_of(function),)
        best = (0, 0, 0, dict[str, int]())
        for shape in self._shapes(sorted({*given.made.symbols, *other.made.symbols})):
            before, after = given.at(shape), other.at(shape)
            if before is None or after is None:
                continue  # there is no such call
            if after[0] > before[0] or after[1] > before[1]:
                subject = f"arena of @main: {before[0]} bytes, {after[0]} in the other order{self._where(shape)}"
                return Decision(subject, Outcome.ORDER_KEPT, Reason.ARENA_NOT_SMALLER, because)
            best = max(best, (sum(before) - sum(after), before[0], after[0], shape), key=lambda each: each[:2])
        saved, before, after, shape = best
        if not saved:
            subject = f"arena of @main: {before} bytes{self._where(shape)}"
            return Decision(subject, Outcome.ORDER_KEPT, Reason.ARENA_NOT_SMALLER, because)
        if not self._is_proven(given, other):
            subject = f"arena of @main: {before} bytes, {after} in the other order{self._where(shape)}"
            return Decision(subject, Outcome.ORDER_KEPT, Reason.ARENA_DEPENDS_ON_SIZES, because)
        subject = f"arena of @main: {after} bytes, {before} before{self._where(shape)}"
        return Decision(subject, Outcome.REORDERED, Reason.SMALLER_ARENA, because, saved)

    def _is_proven(self, given: MemoryNeeds, other: MemoryNeeds) -> bool:
        """Whether the other order takes no more for any sizes in range, and its worst case is known to be no worse."""
        if not given.planner.symbols and not other.planner.symbols:
            return True  # compared already
        if not SizeProver(self.bounds).is_never_less(given.outputs, other.outputs):
            return False
        worst = [needs.planner.most(self.bounds) for needs in (given, other)]
        if worst[0] is not None and (worst[1] is None or worst[1] > worst[0]):
            return False
        return never_larger(other.planner, given.planner, self.bounds)

    def _shapes(self, symbols: list[str]) -> list[dict[str, int]]:
        """The shapes that are compared, each once."""
        found = {tuple(shape.values()): shape for shape in self._samples(symbols)}
        return list(found.values())

    def _samples(self, symbols: list[str]) -> Iterator[dict[str, int]]:
        """Values of the symbols: ends of their ranges, each against all others, the middle, and some samples."""
        ends = {name: self._ends(name) for name in symbols}
        for name in symbols if len(symbols) > 1 else ():
            yield {each: low if each == name else high for each, (low, high) in ends.items()}
            yield {each: high if each == name else low for each, (low, high) in ends.items()}
        if symbols:
            yield {name: low for name, (low, _) in ends.items()}
            yield {name: high for name, (_, high) in ends.items()}
            yield {name: (low + high) // 2 for name, (low, high) in ends.items()}
        for sample in SAMPLES if symbols else SAMPLES[:1]:
            yield {name: max(low, min(sample, high)) for name, (low, high) in ends.items()}

    def _where(self, shape: Mapping[str, int]) -> str:
        names = {symbol: name for name, symbol in self.names.items()}
        shown = sorted((names.get(symbol, symbol), value) for symbol, value in shape.items())
        return f" where {', '.join(f'{name} = {value}' for name, value in shown)}" if shown else ""

    def _ends(self, name: str) -> tuple[int, int]:
        least, greatest = self.bounds.get(name, (0, None))
        return least, max(least, _LARGE) if greatest is None else greatest
