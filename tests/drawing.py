"""Drawing, and lines with names, for what writes random programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st


@dataclass
class Writing:
    """Draws with hypothesis, and writes lines `%v1 = …`; `names` counts them, and several writers may share it."""

    draw: Callable[..., Any]
    lines: list[str] = field(default_factory=list[str])
    names: list[int] = field(default_factory=lambda: [0])

    def between(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, percent: int) -> bool:
        return self.between(0, 99) < percent

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.between(0, len(choices) - 1)]

    def late(self, choices: Sequence[Any]) -> Any | None:
        """One of the choices, a late one rather than an early one; None if there is none."""
        if not choices:
            return None
        return choices[-1] if self.chance(40) else self.pick(choices)

    def fresh(self) -> str:
        self.names[0] += 1
        return f"%v{self.names[0]}"

    def line(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name
