"""`memref`: reads and writes that nothing comes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import xp
from hotdesk.runtime.checking.races import Access


def _atomic(reading: Reading) -> Step:
    value, target, *indices = reading.operands
    (result,) = reading.results
    machine, memory, at = reading.machine, reading.machine.memory, reading.at
    combine = _KINDS[int(reading.attribute("kind").value)]

    def step(frame: Frame) -> None:
        place = [machine.defined(frame[i], at) for i in indices]
        old = memory.load(frame[target], place, at, Access.ATOMIC)
        given = machine.defined(frame[value], at)
        frame[result] = old
        memory.store(frame[target], place, combine(machine.defined(old, at), given), at, Access.ATOMIC)

    return step


def _unsigned(a: Any) -> Any:
    return a.view(np.dtype(f"u{a.dtype.itemsize}"))


_KINDS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,  # addf
    lambda a, b: a + b,  # addi
    lambda a, b: a & b,  # andi
    lambda a, b: b,  # assign
    xp.maximum,  # maximumf
    xp.fmax,  # maxnumf
    xp.maximum,  # maxs
    lambda a, b: xp.maximum(_unsigned(a), _unsigned(b)).view(a.dtype),  # maxu
    xp.minimum,  # minimumf
    xp.fmin,  # minnumf
    xp.minimum,  # mins
    lambda a, b: xp.minimum(_unsigned(a), _unsigned(b)).view(a.dtype),  # minu
    lambda a, b: a * b,  # mulf
    lambda a, b: a * b,  # muli
    lambda a, b: a | b,  # ori
    lambda a, b: a ^ b,  # xori
)
"""`arith.AtomicRMWKind`, by number."""


def _generic_atomic(reading: Reading) -> Step:
    target, *indices = reading.operands
    (result,) = reading.results
    machine, memory, at, region = reading.machine, reading.machine.memory, reading.at, reading.region(0)

    def step(frame: Frame) -> None:
        place = [machine.defined(frame[i], at) for i in indices]
        (value,) = region.run(frame, [memory.load(frame[target], place, at, Access.ATOMIC)])
        memory.store(frame[target], place, value, at, Access.ATOMIC)
        frame[result] = value

    return step


MEANINGS: dict[str, Meaning] = {"memref.atomic_rmw": _atomic, "memref.generic_atomic_rmw": _generic_atomic}
