"""Bytes against work: the ways of a program that budgets and another order give, each found as a compilation finds it.

The program as it is comes first, then the order with the lowest peak, then budgets, each below the peak that the one before met,
until none is met; the last is the least that the refusal says is known to work. All searches share their trials
(`search.trials`), so a way is found once, however many budgets pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hotdesk._bindings import ir
from hotdesk.errors import PlanError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.pipeline import Log
from hotdesk.search.budget import WithinBudget, work
from hotdesk.search.ordering import LowerPeak
from hotdesk.search.trials import KeptTrials, copied
from hotdesk.sizes.size import Bounds

STEP = 0.85
"""What part of the peak that was met the next budget is."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a program.

    Attributes:
        order, budget: the options that give it; no budget is None.
        peak: bytes of the arena and the results.
        again: bytes that its operations write more than those of the program as it is.
        operations: how many more of these there are.
        module: the program on tensors, before destinations are chosen.
        decisions: what was changed, and why.
    """

    order: str
    budget: int | None
    peak: int
    again: int
    operations: int
    module: ir.Module
    decisions: tuple[Decision, ...]


@dataclass(slots=True)
class Sweep:
    """Finds the ways of a module on tensors; called in front of the choice of destinations.

    Attributes:
        bounds, names: as `WithinBudget` has them.
        budgets: those to look for, in bytes; None for the peak and part by part below it.
        most: how many ways within budgets are looked for at most where none are given.
        progress: is told in words what is looked for, and how many ways are found.
        refused: why the lowest budget is not met, where one is not.
        trials: what was tried.
        found: the ways.
    """

    bounds: Bounds
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    budgets: Sequence[int] | None = None
    most: int = 8
    progress: Callable[[str, int], None] = lambda text, count: None
    refused: str = ""
    trials: KeptTrials = field(default_factory=KeptTrials)
    found: list[Way] = field(default_factory=list[Way])
    _least: int = 0

    def __call__(self, module: ir.Module) -> list[Way]:
        """The ways, the first of them the program as it is. The module does not change.

        Raises OptionError where a size has no greatest value.
        """
        with entered(module.operation):
            self.progress("as it is", 0)
            given = self._within(module, None, "given")
            found = [given]
            self.progress("order peak", len(found))
            found.append(self._within(module, None, "peak"))
            for budget in self._targets(given.peak, found):
                self.progress(f"budget {budget:,}", len(found))
                try:
                    found.append(self._within(module, budget, "given"))
                except PlanError as error:
                    self.refused = str(error)
        ways = {(way.peak, way.again): way for way in reversed(found)}
        self.found = [way for way in found if ways[way.peak, way.again] is way]
        return self.found

    def _targets(self, peak: int, found: list[Way]) -> Iterator[int]:
        """The budgets, each of which may follow from the ways within those before it."""
        if self.budgets is not None:
            yield from sorted(set(self.budgets), reverse=True)
            return
        lowest = peak
        for _ in range(self.most):
            yield int(lowest * STEP)
            if self.refused:
                break
            lowest = found[-1].peak
        if lowest > self._least > 0:
            yield self._least

    def _within(self, module: ir.Module, budget: int | None, order: str) -> Way:
        """The way that options give."""
        changed = copied(module)
        log = Log()
        if order == "peak":
            LowerPeak(self.bounds, self.names)(changed, log)
        search = WithinBudget(
            budget or 0, self.bounds, self.names, kept=self.trials, subject="the peaks that are compared"
        )
        if budget is not None:
            try:
                search(changed, log)
            finally:
                self._least = search.least
        found = search.trial(changed)
        before, after = (work(each) for each in (module, changed))
        again, operations = after[0] - before[0], after[1] - before[1]
        return Way(order, budget, found.peak, again, operations, changed, tuple(log.decisions))
