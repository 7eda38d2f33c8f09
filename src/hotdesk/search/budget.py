"""Makes a program fit in a number of bytes, and pays for it as little as it can.

Fits means `Memory.peak`: the arena and the results of a call, for the greatest sizes that calls may have. Tried in turn, until it
fits, on copies of the module that are bufferized and planned to the end:

1. another order of the operations (`hotdesk-reorder-for-peak`), which costs nothing when the program runs;
2. operations in parts (`hotdesk-split-rows`) around the buffers that are there at the peak: more operations, each on fewer rows,
   and what the windows of two parts reach computed for both. Of the ways that fit the one that computes least twice is taken, in
   as few parts as do; if none fits, what lowers the peak most is kept, and so on;
3. values made again, element by element (`hotdesk-recompute-across`), that are there at the peak and not used, the one that
   helps most first. Then 2 again.

With `recompute`, as in steps of training, values are made again at first, by whatever operations it takes, products and
convolutions too (`hotdesk-recompute-to-fit`), all over the program, until an estimate of what is there at each operation says
that it fits; and as the plan says otherwise, for higher and lower estimates.

This stage decides; the passes change the module. What is spent for what is in the decisions, one for each change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hotdesk._bindings import ir
from hotdesk.analysis.order.split_candidates import SplitCandidate, split_candidates
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.errors import OptionError, PlanError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.ir.loops import for_bounds
from hotdesk.ir.types import is_any_tensor
from hotdesk.ir.walking import main_function
from hotdesk.models.control_flow import ENDS
from hotdesk.models.scf import FOR
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.recompute_across import RecomputeAcross
from hotdesk.passes.tensor.recompute_to_fit import RecomputeToFit
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.passes.tensor.split_rows import SplitRows
from hotdesk.pipeline import Log, run_pass
from hotdesk.progress import tell
from hotdesk.report.certificates import Certificate
from hotdesk.search.trials import INSERTED, KeptTrials, Trial, bufferized, changed
from hotdesk.sizes.size import Bounds

PARTS = (2, 3, 4, 6, 8, 12, 16, 32, 64)
"""How many parts are tried."""

MOST_TRIALS = 150
"""Copies that are bufferized and planned, at most."""

_FIRST = (4, 16, 64)
"""How many parts are tried first: more of them only as long as that helps."""

_HELPS = 0.98
"""More parts help if they bring the peak below this part of what it was."""

_GOALS = 7
"""Estimates up to which values are made again that are tried."""

_NEAR = 0.02
"""An estimate that fits and one that does not are near, by the budget: what is between them is not tried."""

_VALUES = 4
"""Buffers at a peak that are looked at, the largest first."""


@dataclass(frozen=True, slots=True)
class _Way:
    """Operations in parts, what the program needs then, and the bytes that are computed twice for it."""

    one: SplitRows
    found: Trial
    again: int


@dataclass(slots=True)
class WithinBudget:
    """Changes a module on tensors, before destinations are chosen, until it needs no more than `budget` bytes at its peak.

    Attributes:
        budget: bytes for the arena and the results.
        bounds: the least and greatest value of each symbol.
        names: symbols by the names of their dimensions, for messages.
        trials: how many copies were bufferized and planned, or had been.
        kept: the trials that are known.
        least: once a budget is refused, the peak that is known to work.
        recompute: whether values may be made again by any operations, before operations are ordered and done in parts.
        subject: what wants the peak, for messages.
    """

    budget: int
    bounds: Bounds
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    trials: int = 0
    kept: KeptTrials = field(default_factory=KeptTrials)
    least: int = 0
    recompute: bool = field(default=False, kw_only=True)
    subject: str = field(default="option 'budget'", kw_only=True)

    def __call__(self, module: ir.Module, log: Log) -> None:
        """Changes the module; the decisions go to the log.

        Raises:
            PlanError: no way to fit was found. It says what was found, and what is proven.
            OptionError: a size has no greatest value.
        """
        with entered(module.operation):
            first = now = self.trial(module)
            first_steps = (self._again,) if self.recompute else ()
            steps = (*first_steps, self._ordered, self._split, self._recomputed)
            while now.peak > self.budget:
                before = now
                for step in steps:
                    if now.peak > self.budget:
                        now = step(module, now, log)
                if now.peak >= before.peak:
                    self.least = now.peak
                    raise too_small(self.budget, now)
                steps = (*first_steps, self._split, self._recomputed)
            if now is not first:
                for one in INSERTED:
                    log.decisions.extend(run_pass(one, module, log))
            log.snapshot("budget", module)

    def _again(self, module: ir.Module, now: Trial, log: Log) -> Trial:
        """Makes values again, by any operations, until they fit by an estimate: the highest for which the plan fits, about."""
        fits, too_high, goal = 0, 2 * now.peak, self.budget
        best, one = now, None
        for _ in range(_GOALS):
            tried = RecomputeToFit(goal)
            found = self._attempt(module, tried) or now
            if found.peak <= self.budget:
                best, one, fits = found, tried, goal
            else:
                too_high = goal
                if found.peak < best.peak:
                    best, one = found, tried
            if too_high - fits <= self.budget * _NEAR:
                break
            guess = goal + self.budget - found.peak
            goal = guess if fits < guess < too_high else (fits + too_high) // 2
        return now if one is None else self._apply(module, one, now, best, log)

    def _ordered(self, module: ir.Module, now: Trial, log: Log) -> Trial:
        found = self._attempt(module, ReorderForPeak())
        return self._apply(module, ReorderForPeak(), now, found, log) if found and found.peak < now.peak else now

    def _split(self, module: ir.Module, now: Trial, log: Log) -> Trial:
        """Does operations at the peak in parts, as long as that helps and it does not fit."""
        while now.peak > self.budget:
            line = StraightLine(main_function(module))
            best: _Way | None = None
            for candidate in split_candidates(line, [number for number, _ in now.at_peak[:_VALUES]]):
                if best is None or self._may_beat(best, candidate):
                    way = self._in_parts(module, now, candidate)
                    best = way if best is None or (way is not None and self._cost(way) < self._cost(best)) else best
            if best is None or best.found.peak >= now.peak:
                return now
            now = self._apply(module, best.one, now, best.found, log)
        return now

    def _cost(self, way: _Way) -> tuple[int, int, int]:
        return max(way.found.peak, self.budget), way.again, way.one.parts

    def _may_beat(self, best: _Way, candidate: SplitCandidate) -> bool:
        """Whether a candidate in some number of parts may cost less than a way; if that fits, what is computed twice decides."""
        if best.found.peak > self.budget:
            return True
        least = min(candidate.bytes_again(parts) for parts in _counts(candidate))
        return (least, PARTS[0]) < (best.again, best.one.parts)

    def _in_parts(self, module: ir.Module, now: Trial, candidate: SplitCandidate) -> _Way | None:
        """The fewest parts that fit: they are tried until more of them do not help.

        If none fit, because another peak is left, the fewest that come as low as any; or more, that would fit without that peak.
        """
        counts = _counts(candidate)
        units = counts[-1]
        tried: dict[int, _Way] = {}

        def peak(parts: int) -> int:
            one = SplitRows(parts, least_bytes=1, only=candidate.number, dim=candidate.dim, large=candidate.large)
            found = self._attempt(module, one)
            if found is None:
                return now.peak
            tried[parts] = _Way(one, found, candidate.bytes_again(parts))
            return found.peak

        lowest = now.peak
        for parts in sorted({min(each, units) for each in _FIRST}):
            before, lowest = lowest, min(lowest, peak(parts))
            if lowest <= self.budget or lowest > before * _HELPS:
                break
        if lowest == now.peak:
            return None
        goal = max(lowest, self.budget)
        enough = min(parts for parts, way in tried.items() if way.found.peak <= goal)
        below = max((parts for parts in tried if parts < enough), default=1)
        between = [parts for parts in counts if below < parts < enough]
        fewest = [*between, enough][bisect_left(between, True, key=lambda parts: peak(parts) <= goal)]
        if lowest <= self.budget:
            return tried[fewest]
        rather = next((parts for parts in counts if candidate.estimate(parts) <= self.budget), min(units, _FIRST[1]))
        if rather <= fewest or (rather not in tried and peak(rather) == now.peak):
            return tried[fewest]
        return tried[rather if tried[rather].found.peak * _HELPS <= lowest else fewest]

    def _recomputed(self, module: ir.Module, now: Trial, log: Log) -> Trial:
        """Makes values again that are there at the peak and not used, as long as that helps and it does not fit."""
        while now.peak > self.budget and now.peak_op >= 0:
            every = RecomputeAcross(across=now.peak_op, least_bytes=1, elementwise=True)
            passes = [replace(every, only=number) for number, _ in now.at_peak]
            tried = [(found, one) for one in passes if (found := self._attempt(module, one)) is not None]
            found, one = min(tried, key=lambda each: each[0].peak, default=(now, None))
            if one is None or found.peak >= now.peak:
                return now
            now = self._apply(module, one, now, found, log)
        return now

    def trial(self, module: ir.Module) -> Trial:
        """What the module needs as it is."""
        return self._tried(module, None)[0]

    def _attempt(self, module: ir.Module, one: Pass) -> Trial | None:
        """What a pass makes of a copy of the module; None if it changes nothing, or enough was tried."""
        return next(iter(self._tried(module, one)), None) if self.trials < MOST_TRIALS else None

    def _tried(self, module: ir.Module, one: Pass | None) -> tuple[Trial, ...]:
        """The trial of the module, as a pass changes it; nothing if the pass does not. It is made unless it is known."""
        key = self.kept.key(module, one, sorted(self.bounds.items()))
        found = self.kept.read(key)
        if found is None:
            found = self._made(module, one, longer=False)
            self.kept.write(key, found)
        if not found:
            return ()
        self.trials += 1
        ways = "1 way" if self.trials == 1 else f"{self.trials} ways"
        tell(f"search: {ways} tried, {found[0].peak:,} bytes by the last, {self.budget:,} wanted")
        if not found[0].may_fit(self.budget):
            return found[:1]
        if len(found) == 1:
            found += self._made(module, one, longer=True)
            self.kept.write(key, found)
        return found[1:]

    def _made(self, module: ir.Module, one: Pass | None, *, longer: bool) -> tuple[Trial, ...]:
        if one is not None:
            module, decisions = changed(module, one)
            if not any(decision.outcome in _CHANGED for decision in decisions):
                return ()
        made = bufferized(module, () if one is None else INSERTED)
        return (made.trial({name: self._greatest(name) for name in made.symbols}, longer=longer),)

    def _greatest(self, symbol: str) -> int:
        high = self.bounds.get(symbol, (0, None))[1]
        if high is None:
            name = next((name for name, other in self.names.items() if other == symbol), symbol)
            raise OptionError(
                self.subject,
                expected=f"a greatest value for the size '{name}'",
                got="none: it may be any number",
                hint=_how_to_bound(name),
            )
        return high

    def _apply(self, module: ir.Module, one: Pass, now: Trial, found: Trial, log: Log) -> Trial:
        """Lets a pass change the module, and tells what that costs and saves."""
        before = work(module)
        decisions = run_pass(one, module, log)
        after = work(module)
        again, more = after[0] - before[0], after[1] - before[1]
        log.decisions.extend(_spent(decisions, more, again, now.peak - found.peak))
        return found


def _how_to_bound(name: str) -> str:
    """How a size gets a greatest value: in PyTorch or ONNX by its name, in MLIR, which has none, where the function is."""
    if not name.isidentifier():
        return "Declare one by `hotdesk.bounds` of the function; in ONNX, give the dimension a name."
    return f'Declare one: `torch.export.Dim("{name}", max=64)`; for ONNX `dynamic_shapes` or `--dim {name}=1:64`.'


def _counts(candidate: SplitCandidate) -> list[int]:
    """The numbers of parts in which a candidate may be done, the greatest last."""
    units = min(candidate.split.units, PARTS[-1])
    return [*(parts for parts in PARTS if parts < units), units]


_CHANGED = (Outcome.REORDERED, Outcome.SPLIT, Outcome.RECOMPUTED)


def _spent(decisions: tuple[Decision, ...], more: int, again: int, saved: int) -> Iterator[Decision]:
    """The decisions of a pass, the first with what all its changes cost and save at the peak.

    `more` are operations, `again` the bytes that are written more.
    """
    cost = "no operation more" if not more else "1 operation more" if more == 1 else f"{more} operations more"
    changes = [decision for decision in decisions if decision.outcome in _CHANGED]
    if any(decision.outcome is Outcome.RECOMPUTED for decision in changes):
        cost += f", {again} bytes written again"
    for number, decision in enumerate(changes):
        subject = f"{decision.subject}: {cost}" if not number else decision.subject
        yield replace(decision, subject=subject, reason=Reason.WITHIN_BUDGET, bytes=0 if number else saved)


def work(module: ir.Module) -> tuple[int, int]:
    """The bytes that operations on tensors write, and how many of them run; what is in a loop, as often as that is known to."""
    line = StraightLine(main_function(module))
    ops = [(op, times) for op, times in _run(line.ops, 1) if _computes(op)]
    written = (times * line.bytes(result) for op, times in ops for result in op.results if is_any_tensor(result.type))
    return sum(written), sum(times for _, times in ops)


def _run(ops: Iterable[ir.Operation], times: int) -> Iterator[tuple[ir.Operation, int]]:
    """Operations and those in loops over numbers that are known, with how often each of them runs."""
    for op in ops:
        trips = for_bounds(op).trips if op.name == FOR else None
        if trips is None:
            yield op, times
        else:
            inside = (each.operation for each in op.regions[0].blocks[0].operations)
            yield from _run(inside, times * trips)


def _computes(op: ir.Operation) -> bool:
    """Whether an operation computes a tensor: views and destinations cost nothing."""
    return not op.name.startswith(("tensor.", "arith.", "func.")) and op.name not in ENDS


_NAMED = 4
"""Buffers that a message names, the largest first."""


def too_small(budget: int, found: Trial) -> PlanError:
    """The error for a budget, in bytes, and the last that was found."""
    return PlanError(
        "the budget",
        expected=f"at most {budget:,} bytes for arena and results",
        got=f"{found.peak:,} bytes, the least that is known to work",
        hint=(
            f"No plan for what was found needs less than {found.bound + found.outputs:,} bytes; "
            f"the results alone take {found.outputs:,} bytes, whatever is done.{_because(found.certificate)}"
        ),
    )


def _because(found: Certificate) -> str:
    """What proves the bound of the arena, as sentences; nothing if there is no buffer in it."""
    if not found.buffers:
        return ""
    shown = [f"{_placed(buffer.name, buffer.location)} {buffer.footprint:,}" for buffer in found.buffers[:_NAMED]]
    rest = found.buffers[_NAMED:]
    if rest:
        shown.append(f"{len(rest):,} more {sum(buffer.footprint for buffer in rest):,}")
    if found.lent:
        shown.append(f"less {found.lent:,} that the caller's memory can lend")
    named = ", ".join(shown)
    if found.proof == "live":
        return f" At {_placed(found.op, found.location)} the arena has to hold {found.bytes:,} bytes: {named}."
    if found.proof == "lent":
        return f" The arena has to hold {found.bytes:,} bytes, whichever of these the caller's memory lends room to: {named}."
    return f" The arena has to hold {found.bytes:,} bytes, as {found.proof} found nothing smaller for {named}."


def _placed(name: str, location: str) -> str:
    return f"{name} ({location})" if location else name
