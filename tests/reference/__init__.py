"""A slow interpreter of tensor programs, with value semantics: every op makes new arrays and nothing is shared.

It says what a program means, independently of how Hotdesk compiles it: linalg by walking every point of the iteration domain,
convolutions and poolings by their defining sums, control flow by running it. Nothing of Hotdesk is used.

What `tensor.empty` holds is undefined. `run` fills it as it is told; `expected` runs with several fills, and elements on which
the runs differ depend on something undefined: no compiler owes anything for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tests.reference import control, linalg, memory, scalars, tensor, vectors
from tests.reference.interpreter import Interpreter
from tests.reference.values import DTYPES, Array, Fill, Operation

__all__ = ["DTYPES", "Array", "Expected", "expected", "run"]

_MEANINGS = {
    **scalars.MEANINGS,
    **tensor.MEANINGS,
    **vectors.MEANINGS,
    **linalg.MEANINGS,
    **memory.MEANINGS,
    **control.MEANINGS,
}
_PASSING = tensor.PASSING | control.PASSING | {"arith.select", "bufferization.dealloc_tensor"}


@dataclass(frozen=True)
class Expected:
    """A result, and which of its elements are defined."""

    values: Array
    defined: Array


def expected(function: Operation, inputs: Sequence[Any]) -> list[Expected]:
    """What a function returns. Where it reads no undefined memory, one run tells that: every other one would be the same."""
    filled: list[Sequence[int]] = []

    def noted(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        filled.append(shape)
        return _lowest(shape, dtype)

    first = run(function, inputs, noted)
    if not filled:
        return [Expected(a, np.full(a.shape, True)) for a in first]
    drawn = [_Drawn(seed, sign) for seed in (7, 8) for sign in (1, -1)]
    others = [run(function, inputs, fill) for fill in (_highest, *drawn)]
    found = _compared(first, others)
    if all(each.defined.all() for each in found):
        return found
    # Comparisons have two outcomes, so that an element that is not defined may come out alike in a few runs.
    return _compared(
        first, [*others, *(run(function, inputs, _Drawn(seed, 1 - seed % 2 * 2)) for seed in range(9, 17))]
    )


def _compared(first: list[Array], others: list[list[Array]]) -> list[Expected]:
    return [Expected(a, np.all([_same(a, b) for b in rest], axis=0)) for a, *rest in zip(first, *others, strict=True)]


def _lowest(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """NaN, which no arithmetic gets rid of, or the least integer."""
    return np.full(shape, np.nan if dtype.kind in "fc" else False if dtype.kind == "b" else np.iinfo(dtype).min, dtype)


def _highest(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    return np.full(shape, 1e30 if dtype.kind in "fc" else True if dtype.kind == "b" else np.iinfo(dtype).max, dtype)


class _Drawn:
    """Numbers that are others each time."""

    def __init__(self, seed: int, sign: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._sign = sign

    def __call__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        numbers = self._sign * self._generator.integers(-1000, 1000, shape) + (self._sign < 0)
        return np.asarray(numbers % 2 == 0 if dtype.kind == "b" else numbers).astype(dtype)


def run(function: Operation, inputs: Sequence[Any], undefined: Fill = _lowest) -> list[Array]:
    """What a function returns when undefined memory holds what `undefined` makes. A scalar argument is a numpy scalar."""
    machine = Interpreter(_MEANINGS, _PASSING, undefined)
    arguments: list[Any] = [np.array(cast(Array, x)) if isinstance(x, np.ndarray) else x for x in inputs]
    with np.errstate(all="ignore"):
        results = machine.yielded(function.regions[0], arguments, {})
        return [np.asarray(machine.read(x)) for x in results]


def _same(a: Array, b: Array) -> Array:
    same = a == b
    return same | (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" else same
