"""A deadline that tests can let pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from hotdesk.planning.placement.deadline import Deadline


@dataclass
class Clock:
    """A deadline that passes at the last of so many looks at it."""

    most: int
    looks: int = 0
    moment: float = 0.0

    def passed(self) -> bool:
        self.looks += 1
        return self.looks > self.most

    def left(self) -> float:
        return 1e9

    @property
    def as_deadline(self) -> Deadline:
        return cast("Deadline", self)
