"""Work that Ctrl-C does not have to wait for, although it stands in code that knows nothing of Python's signals."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """What `work` returns or raises; KeyboardInterrupt as soon as Ctrl-C is pressed.

    The work runs in a thread of its own, for it is the main thread that sees signals, and releases Python's lock while it lasts.
    Work that was interrupted goes on behind the back of the program, which can do something else; what comes of it is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((True, work()))
        except BaseException as error:
            answers.put((False, error))

    thread = threading.Thread(target=run, name="hotdesk-llvm", daemon=True)
    thread.start()
    try:
        is_done, answer = answers.get()
    except BaseException:
        _abandoned.append(thread)
        raise
    thread.join()
    if is_done:
        return answer
    raise answer


_abandoned: list[threading.Thread] = []


def _end() -> None:
    """LLVM must not lose its global state while it works, so the process waits for what goes on.

    One that Ctrl-C ends does not: Python ends it by the signal, and nothing is destroyed.
    """
    is_ended_by_interrupt = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    while _abandoned and not is_ended_by_interrupt:
        _abandoned.pop().join()


atexit.register(_end)
