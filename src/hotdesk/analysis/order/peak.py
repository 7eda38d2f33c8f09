"""How many bytes are held at each op, and whether holding others instead takes more.

Sizes are polynomials in symbols that are not negative, or taken as a whole: a profile has an array over op numbers for each of
their monomials. One profile takes no more than another if its peak is not above the other's, whatever the symbols are:

1. With one monomial, the largest coefficients are compared.
2. With several, at each op that changes every coefficient must be at most the one that some op had before, which then already
   had a peak as large. Tried are the ops where one of them was largest, or their sum for some values of the symbols, and the op
   itself.
3. Where more is held than the profile knows, such as during calls, only the op itself is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from hotdesk.sizes.polynomials import Monomial
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size

_MOST_MONOMIALS = 16
_IN_A_WORD = 1 << 62  # what more than this may be summed up to is counted in Python's numbers


@dataclass(frozen=True, slots=True)
class Change:
    """`size` more bytes, or less if `sign` is -1, at the ops from `lower` to `upper`, half open."""

    lower: int
    upper: int
    size: Size
    sign: int = 1


class MemoryProfile:
    """The bytes that are held while each op of a function runs.

    Args:
        ops: how many there are.
        held: what is held at first.
        vague: the ops during which more than that may be held, as half-open ranges.
        prover: what reads sizes as polynomials.
    """

    def __init__(
        self,
        ops: int,
        held: Sequence[Change],
        vague: Sequence[tuple[int, int]] = (),
        prover: SizeProver | None = None,
    ) -> None:
        self._prover = prover or SizeProver()
        self._ops = ops
        self._held: dict[Monomial, Any] = {}
        self._most: dict[Monomial, int] = {}  # what each array cannot exceed
        self._terms: dict[Size, tuple[tuple[Monomial, int], ...]] = {}
        for change in held:
            self._apply(change, 1)
        tops = sorted({self._highest(), *(int(np.argmax(array)) for array in self._held.values())})
        self._peaks = [{monomial: int(array[top]) for monomial, array in self._held.items()} for top in tops]
        self._before = {monomial: array.copy() for monomial, array in self._held.items()}
        self._nothing: Any = np.zeros(ops, np.int64)
        self._more: Any = np.zeros(ops, np.bool_)
        for lower, upper in vague:
            self._more[lower:upper] = True

    def accept(self, changes: Sequence[Change]) -> bool:
        """Makes changes, unless the peak may rise above the first one by them; whether they were made."""
        changes = [change for change in changes if change.lower < change.upper]
        if not changes:
            return True
        if len(self._held) > _MOST_MONOMIALS:
            return False
        for change in changes:
            self._apply(change, 1)
        rises = any(self._rises(change.lower, change.upper) for change in changes if change.sign > 0)
        if rises:
            for change in changes:
                self._apply(change, -1)
        return not rises

    def _rises(self, lower: int, upper: int) -> bool:
        """Whether at some op of a range more may be held than ever before."""
        known = ~self._more[lower:upper]
        fits = known & False
        for peak in self._peaks:
            under = known
            for monomial, array in self._held.items():
                under = under & (array[lower:upper] <= peak.get(monomial, 0)).astype(np.bool_)
            fits = fits | under
            if bool(fits.all()):
                return False
        under = ~(known & False)
        for monomial, array in self._held.items():
            before = self._before.get(monomial, self._nothing)
            under = under & (array[lower:upper] <= before[lower:upper]).astype(np.bool_)
        return not bool((fits | under).all())

    def _apply(self, change: Change, times: int) -> None:
        if change.size not in self._terms:
            self._terms[change.size] = self._prover.terms(change.size)
        for monomial, number in self._terms[change.size]:
            array = self._held.get(monomial)
            if array is None:
                array = self._held[monomial] = np.zeros(self._ops, np.int64)
            self._most[monomial] = self._most.get(monomial, 0) + abs(number) * times
            if self._most[monomial] > _IN_A_WORD and array.dtype != object:
                array = self._held[monomial] = array.astype(object)
            array[change.lower : change.upper] += number * change.sign * times

    def _highest(self) -> int:
        """The op with the peak, if each symbol is a thousand or so."""
        if not self._held:
            return 0
        total = np.zeros(self._ops)
        for monomial, array in self._held.items():
            typical = prod((1009 + 2 * i) ** power for i, (_, power) in enumerate(monomial))
            total += array.astype(np.float64) * float(typical)
        return int(np.argmax(total))
