"""Orders the operations of a block so that less memory is needed at the peak.

    %a = wide(%x)                       %a = wide(%x)
    %b = wide(%x)                       %c = narrow(%a)
    %c = narrow(%a)             ->      %b = wide(%x)
    %d = narrow(%b)                     %d = narrow(%b)
    %r = add(%c, %d)                    %r = add(%c, %d)

Legal iff the rules of `analysis.order.schedules` are kept: values before their uses, operations with effects in their order. What
is live when, and what may lie where an operand did, is estimated from the tensors (see there); `planning.scheduling.scheduler`
finds the order, and blocks inside an operation come before the one around it. A block stays as it is

1. if no order has a lower peak by this estimate, or none was found (`no-order-below`, `no-order-found`, `lowest-peak`);
2. if sizes are not known and the peak could be higher for some of them, none of them 0 (`peak-depends-on-sizes`,
   `unsized-element`).

Goes after fusion and in front of `hotdesk-choose-destinations`: what dies where follows from the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hotdesk._bindings import ir
from hotdesk.analysis.order.schedules import Stretch, read_all, read_stretch, used_in_other_blocks
from hotdesk.errors import OptionError, PlanError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import defined_functions, is_function, runs_every_call, symbol_name
from hotdesk.passes.base import Pass
from hotdesk.planning.scheduling.all_sizes import is_never_higher
from hotdesk.planning.scheduling.checker import check_schedule
from hotdesk.planning.scheduling.problem import Schedule
from hotdesk.planning.scheduling.scheduler import schedule
from hotdesk.sizes.polynomials import Monomial
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import symbols_of


@dataclass(frozen=True, slots=True)
class ReorderForPeak(Pass):
    """Orders operations for a lower peak (rules in the module docstring).

    Options:
        results: where results of functions lie, as for `hotdesk-one-shot-bufferize`: `out-params`, in memory of the caller's, or
            `returned`, in memory that counts.
        max_states: how many states the search may look at for each block.
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-reorder-for-peak"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.LOWER_PEAK,
        Reason.LOWEST_PEAK,
        Reason.NO_ORDER_BELOW,
        Reason.NO_ORDER_FOUND,
        Reason.PEAK_DEPENDS_ON_SIZES,
        Reason.UNSIZED_ELEMENT,
    )
    results: str = "out-params"
    max_states: int = 100_000
    assumed_size: int = 256

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        self._check()
        decisions: list[Decision] = []
        for function in defined_functions(module):
            made = self._function(function)
            decisions.extend(made if runs_every_call(function) else ())
        return tuple(decisions)

    def _function(self, function: ir.Operation) -> list[Decision]:
        record = read_all(function)
        if record is None:
            return [_kept(function, _subject(function), Reason.UNSIZED_ELEMENT)]
        elsewhere = used_in_other_blocks(record)
        inner: dict[int, int] = {}
        decisions: list[Decision] = []
        for block in reversed(record.blocks):
            if block.first == block.end:
                continue
            stretch = read_stretch(
                record, block, inner, elsewhere, self.assumed_size, returned=self.results == "returned"
            )
            found = schedule(stretch.problem, self.max_states)
            _refuse_faults(stretch, found)
            place = function if block.parent < 0 else record.ops[block.parent].operation
            decision = _decide(place, stretch, found, self.assumed_size)
            if decision.outcome is Outcome.REORDERED:
                _arrange(stretch, found)
            if block.parent >= 0:
                peak = found.peak if decision.outcome is Outcome.REORDERED else found.given
                inner[block.parent] = max(inner.get(block.parent, 0), peak)
            if len(stretch.tasks) > 1:
                decisions.append(decision)
        return decisions[::-1]

    def _check(self) -> None:
        what = "option '{}' of pass '" + self.name + "'"
        if self.results not in ("out-params", "returned"):
            raise OptionError(what.format("results"), expected="out-params or returned", got=repr(self.results))
        for option, given, least in (("max-states", self.max_states, 0), ("assumed-size", self.assumed_size, 1)):
            if given < least:
                raise OptionError(what.format(option), expected=f"a number from {least} on", got=str(given))


def _decide(place: ir.Operation, stretch: Stretch, found: Schedule, assumed: int) -> Decision:
    """What becomes of the block in `place`. Bytes are those with every symbol as `assumed`."""
    where = "" if all(isinstance(size, int) for size in stretch.sizes) else f" if unknown sizes are {assumed}"
    kept = f"{_subject(place)}: {found.given} bytes at the peak{where}"
    if found.peak == found.given:
        return _kept(place, kept, Reason.NO_ORDER_BELOW if found.proven_optimal else Reason.NO_ORDER_FOUND)
    if not _is_never_higher(stretch, found):
        return _kept(place, kept, Reason.PEAK_DEPENDS_ON_SIZES)
    subject = f"{_subject(place)}: {found.peak} bytes at the peak, {found.given} before{where}"
    reason = Reason.LOWEST_PEAK if found.proven_optimal else Reason.LOWER_PEAK
    return Decision(subject, Outcome.REORDERED, reason, (source_of(place),), found.given - found.peak)


def _kept(place: ir.Operation, subject: str, reason: Reason) -> Decision:
    return Decision(subject, Outcome.ORDER_KEPT, reason, (source_of(place),))


def _subject(place: ir.Operation) -> str:
    return f"order of @{symbol_name(place)}" if is_function(place) else f"order inside {place.name}"


def _refuse_faults(stretch: Stretch, found: Schedule) -> None:
    """Has every order checked by code that did not make it."""
    faults = check_schedule(stretch.problem, found)
    if faults:
        raise PlanError(
            f"the scheduler's `{found.strategy}` made an invalid order",
            expected="an order that is allowed",
            got=faults[0],
            hint="This is a defect of Hotdesk; please report it.",
        )


def _is_never_higher(stretch: Stretch, found: Schedule) -> bool:
    """Whether the order is as good for all sizes from 1 on, if some are not known."""
    if all(isinstance(size, int) for size in stretch.sizes):
        return True
    names = {name for size in stretch.sizes for name in symbols_of(size)}
    prover = SizeProver(dict.fromkeys(names, (1, None)))
    of_values = [prover.terms(size) for size in stretch.sizes]
    columns: dict[Monomial, int] = {}
    for monomial in (monomial for found_terms in of_values for monomial, _ in found_terms):
        columns.setdefault(monomial, len(columns))
    rows = np.zeros((len(of_values), len(columns)), np.int64)
    for value, found_terms in enumerate(of_values):
        for monomial, number in found_terms:
            rows[value, columns[monomial]] += number
    return is_never_higher(stretch.problem, rows, found.order)


def _arrange(stretch: Stretch, found: Schedule) -> None:
    """Moves the operations of a block, each behind the one before it, and so all of them to the end, before the terminator."""
    terminator = list(stretch.operations[-1].block.operations)[-1]
    for position in stretch.arranged(found.order):
        stretch.operations[position].move_before(terminator)
