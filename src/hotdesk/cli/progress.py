"""A bar on a terminal for what takes long, with the time left where it is known; nothing where stderr is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def shown_progress() -> Generator[Callable[[str, float], None]]:
    """What to tell what is done, and which part of that is over; -1 where nobody knows."""
    if not sys.stderr.isatty():
        yield lambda text, part: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        kind = ""

        def told(text: str, part: float) -> None:
            nonlocal kind
            if (began := text.partition(":")[0]) != kind:  # another stage, whose time is its own
                kind = began
                bar.reset(task, total=None, description=text)
            bar.update(task, description=text, total=None if part < 0 else 1.0, completed=max(part, 0.0))

        yield told
