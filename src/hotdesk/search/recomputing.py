"""Values computed late, or made again where they are read much later, as far as that makes the plan smaller at little cost.

A step of training keeps for the backward pass what the forward pass made. Most of it costs little to make again, such as
normalizations and activations of what a convolution gave, and weights of attention, or is read nowhere before; neither need be
kept. Chen et al. 2016 and Jain et al. 2020 choose among layers; here it is chosen among what fusion left. Tried on a copy of the
module that is bufferized and planned to the end, and taken if the plan needs fewer bytes:

1. products and scattered rows are added up where the rest of a sum lies (`hotdesk-accumulate-in-place`), if they have at least
   one part in sixteen of the bytes at the peak: that costs one more pass over them;
2. operations go to their first readers (`hotdesk-compute-late`), which costs nothing;
3. in rounds, values are made again that would be kept at the peak (`hotdesk-recompute-across`), the cheapest for their bytes
   first, from one part in a thousand of the arena on. All rounds together cost at most one part in twenty of what the program
   does. The first round that does not bring the peak down by one part in a hundred is not taken, and is the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.chains import cost
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import main_function
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.accumulate import AccumulateInPlace
from hotdesk.passes.tensor.compute_late import ComputeLate
from hotdesk.passes.tensor.recompute_across import RecomputeAcross
from hotdesk.pipeline import Log, run_pass
from hotdesk.search.trials import INSERTED, Trial, bufferized, changed

MOST_ROUNDS = 4
_LITTLE = 20
"""All that is done again is at most one in so many parts of the program."""
_SMALL = 1024
"""Values of less than this part of the arena are kept."""
_LARGE = 16
"""Sums of at least this part of the peak are added up in place."""
_HELPS = 0.99
"""A round is taken if it brings the peak below this part of what it was."""


@dataclass(frozen=True, slots=True)
class KeepLess:
    """Changes a module on tensors, before destinations are chosen. Sizes that are open leave it as it is."""

    def __call__(self, module: ir.Module, log: Log) -> None:
        """Changes the module as long as that makes its arena smaller; the decisions go to the log."""
        with entered(module.operation):
            now = self._needs(module)
            if now is None:
                return
            left = cost(StraightLine(main_function(module))) // _LITTLE
            for one in (AccumulateInPlace(least_bytes=max(1, now.peak // _LARGE)), ComputeLate()):
                now = self._tried(module, one, now, now.peak, log) or now
            for _ in range(MOST_ROUNDS):
                if now.peak_op < 0:
                    break
                least = max(1, now.arena // _SMALL)
                before = cost(StraightLine(main_function(module)))
                one = RecomputeAcross(across=now.peak_op, least_bytes=least, most_cost=left)
                found = self._tried(module, one, now, int(now.peak * _HELPS), log)
                if found is None:
                    break
                now = found
                left = max(0, left - (cost(StraightLine(main_function(module))) - before))
            for one in INSERTED:
                log.decisions.extend(run_pass(one, module, log))

    def _tried(self, module: ir.Module, one: Pass, now: Trial, most: int, log: Log) -> Trial | None:
        """What the module needs with a change, which is made; None if that is more than `most` bytes, or it changes nothing."""
        copy, decisions = changed(module, one)
        found = self._needs(copy) if decisions else None
        if found is None or found.peak > most:
            return None
        log.decisions.extend(run_pass(one, module, log))
        if found.peak < now.peak:
            log.decisions.append(_decision(module, one, now, found))
        return found

    def _needs(self, module: ir.Module) -> Trial | None:
        made = bufferized(module, INSERTED)
        return None if made.symbols else made.trial({})


def _decision(module: ir.Module, one: Pass, before: Trial, after: Trial) -> Decision:
    function = main_function(module)
    because = (source_of(function),)
    subject = f"arena of @main: {after.arena} bytes, {before.arena} before"
    saved = before.peak - after.peak
    if isinstance(one, ComputeLate):
        return Decision(subject, Outcome.REORDERED, Reason.ONLY_READ_LATER, because, saved)
    if isinstance(one, AccumulateInPlace):
        return Decision(subject, Outcome.IN_PLACE, Reason.ADDED_WHERE_IT_LIES, because, saved)
    return Decision(subject, Outcome.RECOMPUTED, Reason.NOT_KEPT_AT_PEAK, because, saved)
