"""A bar on a terminal for what takes long, with the time left where it is known; nothing where stderr is none.

Stages take unequal times, so how many are over says nothing about the time left; a limit in seconds says all.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from hotdesk.progress import Listener, heard


@contextmanager
def shown_progress(limit: float | None = None) -> Generator[Listener]:
    """Shows what is told inside the `with`, also by `hotdesk.progress`; work that ends after `limit` seconds by the clock."""
    if not sys.stderr.isatty():
        yield lambda text, part: None
        return
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            return super().render(task) if task.fields.get("is_timed") else Text("")

    class Clocked(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            for each in self.tasks if limit else ():
                self.update(each.id, completed=min(each.elapsed or 0.0, limit or 0.0))
            return super().get_renderables()

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeLeft())
    with Clocked(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("" if limit else "load", total=limit, is_timed=bool(limit))  # files and imports come first
        kind = ""

        def told(text: str, part: float) -> None:
            nonlocal kind
            if limit:
                bar.update(task, description=text)
                return
            began = text.partition(":")[0]
            if began == "stage" and kind == "compile":  # of one program of several, which are counted
                return
            if began != kind:  # another kind of work, whose time is its own
                kind = began
                bar.reset(task, total=None, description=text, is_timed=kind != "stage")
            total = None if part < 0 else 1.0
            # At once: rich draws ten times a second, and what takes less would never be seen.
            bar.update(task, description=text, total=total, completed=max(part, 0.0), refresh=True)

        with heard(told):
            yield told
