"""`--mlir-timing`: what each pass takes, as a table."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

_RULE = f"==={'-' * 73}==="
_TITLE = "... Execution time report ..."


@dataclass(slots=True)
class Timer:
    """Seconds of wall time by name, in order; a pass that runs twice has two lines."""

    rows: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _start: float = field(default_factory=time.perf_counter)

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.rows.append((name, time.perf_counter() - start))

    def report(self, longest_first: bool = False) -> str:
        """The table of what was measured, up to now; in its order, or the longest first."""
        rows = sorted(self.rows, key=lambda row: -row[1]) if longest_first else self.rows
        return table(rows, time.perf_counter() - self._start)


def table(rows: list[tuple[str, float]], total: float) -> str:
    """Seconds and percent of `total` of each row; what is left of the total is called Rest."""
    rest = max(total - sum(seconds for _, seconds in rows), 0.0)
    lines = [_RULE, f"{'':25}{_TITLE}", _RULE, f"  Total Execution Time: {total:.4f} seconds", ""]
    lines.append("  ----Wall Time----  ----Name----")
    for name, seconds in [*rows, ("Rest", rest), ("Total", total)]:
        percent = 100 * seconds / total if total else 0.0
        lines.append(f"  {seconds:8.4f} ({percent:5.1f}%)  {name}")
    return "\n".join(lines) + "\n"
