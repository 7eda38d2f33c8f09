"""Orders in which heuristics consider movable buffers: lists of their numbers, ties by number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.instance import Instance

_Column = NDArray[Any]


def by_size(instance: Instance) -> list[int]:
    """Largest first, then earliest."""
    return sorted(range(len(instance)), key=lambda i: (-instance.size[i], instance.lower[i]))


def by_start(instance: Instance) -> list[int]:
    """In order of the schedule, largest first within a step."""
    return sorted(range(len(instance)), key=lambda i: (instance.lower[i], -instance.size[i]))


def by_breadth(instance: Instance) -> list[int]:
    """Buffers of the busiest step first, largest first within it, then those of the next busiest step, and so on."""
    return sorted(range(len(instance)), key=lambda i: (-instance.pressure[i], -instance.size[i]))


def by_area(instance: Instance) -> list[int]:
    """Largest product of size and lifetime first."""
    return sorted(range(len(instance)), key=lambda i: (-_area(instance, i), -instance.size[i]))


def by_bulk(instance: Instance) -> list[int]:
    """Largest product of size and the cube root of the lifetime first: what is both large and long-lived, size before all."""
    return sorted(
        range(len(instance)), key=lambda i: (-(instance.size[i] ** 3) * instance.lifetime[i], instance.lower[i])
    )


def by_pressure(instance: Instance) -> list[int]:
    """Under the heaviest load first, then longest-lived, then largest area."""
    pressure, lifetime, area = _columns(instance)
    return _descending(pressure, lifetime, area)


def by_pressure_then_area(instance: Instance) -> list[int]:
    """Under the heaviest load first, then largest area, then longest-lived."""
    pressure, lifetime, area = _columns(instance)
    return _descending(pressure, area, lifetime)


def by_lifetime(instance: Instance) -> list[int]:
    """Longest-lived first, then largest area, then under the heaviest load."""
    pressure, lifetime, area = _columns(instance)
    return _descending(lifetime, area, pressure)


def _columns(instance: Instance) -> tuple[_Column, _Column, _Column]:
    """Pressure, lifetime, and area: exact where it fits into 63 bits, which takes more than any memory to exceed."""
    lifetime: NDArray[np.int64] = np.array(instance.lifetime, dtype=np.int64)
    size: NDArray[np.int64] = np.array(instance.size, dtype=np.int64)
    fits = int(size.max(initial=0)) * int(lifetime.max(initial=0)) < 1 << 63
    area = size * lifetime if fits else size.astype(np.float64) * lifetime
    return np.array(instance.pressure, dtype=np.int64), lifetime, area


def _descending(*columns: _Column) -> list[int]:
    """Numbers in order of the first column, greatest first, equals in that of the next."""
    return np.lexsort([-column for column in reversed(columns)]).tolist()


def _area(instance: Instance, i: int) -> int:
    return instance.size[i] * instance.lifetime[i]
