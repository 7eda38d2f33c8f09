"""Work outside Python that Ctrl-C interrupts: it runs in a thread of its own, for it is the main thread that sees signals."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


def interruptible(work: Callable[[], T], name: str, stop: Callable[[], object] | None = None) -> T:
    """What `work` returns or raises; KeyboardInterrupt as soon as Ctrl-C is pressed.

    Args:
        work: releases Python's lock while it lasts.
        name: of the thread.
        stop: ends the work, and does nothing before it has begun. Without it, interrupted work goes on beside the program and its
            result is dropped; the process waits for it before it ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    unwanted = threading.Event()

    def run() -> None:
        try:
            answers.put((True, None if unwanted.is_set() else work()))
        except BaseException as error:
            answers.put((False, error))

    thread = threading.Thread(target=run, name=name, daemon=True)
    try:
        thread.start()  # Ctrl-C may come in here, when the thread is there already
        is_done, answer = answers.get()
    except BaseException:
        unwanted.set()
        if stop is None:
            _abandoned.append(thread)
        while stop is not None and thread.ident is not None and answers.empty():
            stop()
            time.sleep(_PAUSE)
        raise
    thread.join()
    if is_done:
        return answer
    raise answer


_PAUSE = 0.01  # seconds until work that had not begun is told again to stop
_abandoned: list[threading.Thread] = []


def _end() -> None:
    """LLVM must not lose its global state while it works, so the process waits for what goes on.

    One that Ctrl-C ends does not: Python ends it by the signal, and nothing is destroyed. But Python forgets that it was Ctrl-C
    as soon as text is run as code, as where a named tuple is made, and PyTorch imports modules when a process ends.
    """
    is_ended_by_interrupt = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    if _abandoned and is_ended_by_interrupt:
        with suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")  # Python remembers
    while _abandoned and not is_ended_by_interrupt:
        thread = _abandoned.pop()
        if thread.ident is not None:
            thread.join()


atexit.register(_end)


__all__ = ["interruptible"]
