"""The order of a program's operations, changed only where that makes the arena smaller.

`hotdesk-reorder-for-peak` estimates; what counts is the plan. So both orders are bufferized and planned to the end, on copies of
the module, and the given one stays unless the other one needs fewer bytes. With sizes that are not known, it has to need no more
for each of `SAMPLES`, as far as the program takes them, and fewer for one; the pass has then proven that the bytes live together
are no more for any sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.context import entered, verify
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import main_function
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.pipeline import Log
from hotdesk.trials import bufferized

SAMPLES = (8, 64, 512)
"""What each symbolic size is taken to be, unless the program asks for more or for less."""

Bounds = Mapping[str, tuple[int, "int | None"]]


@dataclass(frozen=True, slots=True)
class LowerPeak:
    """Reorders a module on tensors, before destinations are chosen. `bounds` are the least and greatest value of each symbol."""

    bounds: Bounds

    def __call__(self, module: ir.Module, log: Log) -> None:
        """Changes the module if that makes its arena smaller; the decisions go to the log."""
        with entered(module.operation):
            changed = _copy(module)
            decisions = ReorderForPeak().run(changed)
            if not any(decision.outcome is Outcome.REORDERED for decision in decisions):
                log.decisions.extend(decisions)
                return
            verify(changed, ReorderForPeak.name)
            before, after = self.arenas(module), self.arenas(changed)
            better = after != before and all(a <= b for a, b in zip(after, before, strict=True))
            if better:
                log.decisions.extend(ReorderForPeak().run(module))
                verify(module, ReorderForPeak.name)
                log.snapshot(ReorderForPeak.name, module)
            log.decisions.append(_decision(module, before, after, better=better))

    def arenas(self, module: ir.Module) -> tuple[int, ...]:
        """The bytes of a module's arena for each sample, or one figure if all sizes are known. Changes nothing."""
        made = bufferized(module)
        samples = [{name: self._within(name, sample) for name in made.symbols} for sample in SAMPLES]
        return tuple(made.trial(symbols).arena for symbols in (samples if made.symbols else samples[:1]))

    def _within(self, name: str, sample: int) -> int:
        least, greatest = self.bounds.get(name, (0, None))
        return max(least, sample if greatest is None else min(sample, greatest))


def _copy(module: ir.Module) -> ir.Module:
    return cast(Any, module.operation).clone()


def _decision(module: ir.Module, before: tuple[int, ...], after: tuple[int, ...], *, better: bool) -> Decision:
    function = main_function(module)
    source = Source(function.name, python_line(function.location))
    if not better:
        return Decision(f"arena of @main: {before[-1]} bytes", Outcome.ORDER_KEPT, Reason.ARENA_NOT_SMALLER, (source,))
    subject = f"arena of @main: {after[-1]} bytes, {before[-1]} before"
    return Decision(subject, Outcome.REORDERED, Reason.SMALLER_ARENA, (source,), before[-1] - after[-1])
