"""Ctrl-C during an import, and while PyTorch swaps its kernels: the interrupt waits until that has ended.

Modules are imported where they are first used, and half of one cannot be imported again: submodules and registrations of SymPy,
`torch._dynamo` and the dialects of MLIR stay behind when an import is interrupted, and the next one fails until the process ends.
So do kernels of composite ops, of which `torch.export` replaces a few hundred while it decomposes a program: it notes what
it has to put back only when the last one is replaced.
"""

from __future__ import annotations

import inspect
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_IMPORTING = "<frozen importlib._bootstrap>"
_SWAPPING = "_override_composite_implicit_decomp"  # its frame is on the stack where it is entered and left
_PAUSE = 0.02  # seconds until it is asked again whether that is over


@contextmanager
def whole_imports() -> Generator[None]:
    """Lets Ctrl-C wait for the end of an import, or of a swap of kernels, that begins in here; all else ends at once.

    Only the main thread sees signals, and only a handler of Python's can wait: others are left alone.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    outside = _unbroken(inspect.currentframe())
    waiting: list[threading.Timer] = []

    def handle(number: int, frame: FrameType | None) -> None:
        _cancel(waiting)
        if _unbroken(frame) <= outside:
            before(number, frame)
            return
        timer = threading.Timer(_PAUSE, os.kill, (os.getpid(), number))
        timer.daemon = True
        waiting.append(timer)
        timer.start()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        is_pressed = bool(waiting)
        _cancel(waiting)
        signal.signal(signal.SIGINT, before)
        if is_pressed:
            signal.raise_signal(signal.SIGINT)


def _cancel(timers: list[threading.Timer]) -> None:
    while timers:
        timers.pop().cancel()


def _unbroken(frame: FrameType | None) -> int:
    """How many calls that no interrupt may break off a frame stands in."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename == _IMPORTING or frame.f_code.co_name == _SWAPPING
        frame = frame.f_back
    return count
