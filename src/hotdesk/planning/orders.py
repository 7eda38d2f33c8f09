"""Orders in which heuristics consider movable buffers: lists of their numbers, ties by number."""

from __future__ import annotations

from hotdesk.planning.instance import Instance


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
    return sorted(
        range(len(instance)), key=lambda i: (-instance.pressure[i], -instance.lifetime[i], -_area(instance, i))
    )


def by_pressure_then_area(instance: Instance) -> list[int]:
    """Under the heaviest load first, then largest area, then longest-lived."""
    return sorted(
        range(len(instance)), key=lambda i: (-instance.pressure[i], -_area(instance, i), -instance.lifetime[i])
    )


def by_lifetime(instance: Instance) -> list[int]:
    """Longest-lived first, then largest area, then under the heaviest load."""
    return sorted(
        range(len(instance)), key=lambda i: (-instance.lifetime[i], -_area(instance, i), -instance.pressure[i])
    )


def _area(instance: Instance, i: int) -> int:
    return instance.size[i] * instance.lifetime[i]
