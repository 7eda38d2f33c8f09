"""`arith` ops with two results: sums with a carry, and products of twice the width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import dtype_of, plain, xp
from hotdesk.runtime.checking.scalars import marked


def _two(make: Callable[[int, np.dtype[Any]], Callable[[int, int], tuple[int, int]]]) -> Meaning:
    """An op on Python integers that do not overflow, whose results are cut to their types."""

    def meaning(reading: Reading) -> Step:
        dtype, machine, at = dtype_of(reading.result_type()), reading.machine, reading.at
        bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        function, (a, b) = make(bits, dtype), reading.operands
        kinds = [dtype_of(reading.result_type(number)) for number in (0, 1)]

        def part(number: int) -> Callable[[Any, Any], Any]:
            def apply(x: Any, y: Any) -> Any:
                found = [function(int(p), int(q))[number] for p, q in xp.broadcast(x, y)]
                shape = np.broadcast_shapes(x.shape, y.shape)
                return xp.array([_cut(n, kinds[number]) for n in found], kinds[number]).reshape(shape)[()]

            return apply

        parts = [part(0), part(1)]

        def step(frame: Frame) -> None:
            x, y = frame[a], frame[b]
            for slot, apply in zip(reading.results, parts, strict=True):
                frame[slot] = apply(x, y) if plain(x) is x and plain(y) is y else marked(machine, apply, (x, y), at)

        return step

    return meaning


def _cut(value: int, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return bool(value & 1)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _sum(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    mask = (1 << bits) - 1
    return lambda a, b: (a + b, int((a & mask) + (b & mask) > mask))


def _unsigned_product(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    mask = (1 << bits) - 1
    return lambda a, b: (a * b, ((a & mask) * (b & mask)) >> bits)


def _signed_product(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    if dtype.kind == "b":  # a true `i1` is −1
        return lambda a, b: (a * b, (-a * -b) >> 1)
    return lambda a, b: (a * b, (a * b) >> bits)


MEANINGS: dict[str, Meaning] = {
    "arith.addui_extended": _two(_sum),
    "arith.mulsi_extended": _two(_signed_product),
    "arith.mului_extended": _two(_unsigned_product),
}
