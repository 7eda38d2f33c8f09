"""Orders in which heuristics consider movable buffers: lists of their numbers, ties by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.instance import Instance

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
    return Columns.of(instance).by_pressure().tolist()


def by_pressure_then_area(instance: Instance) -> list[int]:
    """Under the heaviest load first, then largest area, then longest-lived."""
    return Columns.of(instance).by_pressure_then_area().tolist()


def by_lifetime(instance: Instance) -> list[int]:
    """Longest-lived first, then largest area, then under the heaviest load."""
    columns = Columns.of(instance)
    return _descending(columns.lifetime, columns.area, columns.pressure).tolist()


@dataclass(frozen=True, slots=True)
class Columns:
    """What some orders go by, for each buffer: the largest load over its life, its steps, and bytes times steps.

    The last is exact where it fits into 63 bits, which takes more than any memory to exceed.
    """

    pressure: _Column
    lifetime: _Column
    area: _Column

    @classmethod
    def of(cls, instance: Instance) -> Columns:
        """Those of the buffers of an instance."""
        pressure, lifetime, size = (
            np.array(each, dtype=np.int64) for each in (instance.pressure, instance.lifetime, instance.size)
        )
        return cls.made(pressure, lifetime, size)

    @classmethod
    def made(cls, pressure: NDArray[np.int64], lifetime: NDArray[np.int64], size: NDArray[np.int64]) -> Columns:
        """Those of buffers of these sizes, which are footprints, in bytes."""
        fits = int(size.max(initial=0)) * int(lifetime.max(initial=0)) < 1 << 63
        return cls(pressure, lifetime, size * lifetime if fits else size.astype(np.float64) * lifetime)

    def by_pressure(self) -> NDArray[np.intp]:
        """As the function."""
        return _descending(self.pressure, self.lifetime, self.area)

    def by_pressure_then_area(self) -> NDArray[np.intp]:
        """As the function."""
        return _descending(self.pressure, self.area, self.lifetime)


def _descending(*columns: _Column) -> NDArray[np.intp]:
    """Numbers in order of the first column, greatest first, equals in that of the next."""
    return np.lexsort([-column for column in reversed(columns)])


def _area(instance: Instance, i: int) -> int:
    return instance.size[i] * instance.lifetime[i]
