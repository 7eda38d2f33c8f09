"""A limit in seconds, for those who would rather have an answer in time than the same one every time."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock, or None for no limit."""

    moment: float | None = None

    @staticmethod
    def after(seconds: float | None) -> Deadline:
        return NO_DEADLINE if seconds is None else Deadline(monotonic() + seconds)

    def left(self) -> float | None:
        """Seconds that are left, 0 from the deadline on."""
        return None if self.moment is None else max(self.moment - monotonic(), 0.0)

    def passed(self) -> bool:
        return self.moment is not None and monotonic() >= self.moment


NO_DEADLINE = Deadline()
