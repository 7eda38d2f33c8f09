"""Python processes that work for this one: how they are started, and how they end if nobody asks them for anything."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

_IDLE = 30
"""Seconds after which a process that nobody asks ends."""


def start_python(code: str, **options: Any) -> subprocess.Popen[Any]:
    """Starts this Python on some code, with our modules and without our Ctrl-C. `options` are those of `subprocess.Popen`.

    Raises OSError if the system does not give us a process, or if no Python is known that could be one, as in an application that
    Python is built into.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("no Python to start")
    # Nothing is imported before it has our path: its own begins with the working folder, as an interactive Python's does.
    path = [*filter(None, map(str, sys.path)), str(Path(__file__).parents[2])]
    command = [sys.executable, "-c", f"import sys; sys.path[:] = sys.argv[1:]; {code}", *path]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, **options)


def ends_unless_asked(waits: bool) -> None:
    """In such a process: whether it ends in a while, as it waits to be asked, or goes on, as it works."""
    if hasattr(signal, "alarm"):
        signal.alarm(_IDLE if waits else 0)
