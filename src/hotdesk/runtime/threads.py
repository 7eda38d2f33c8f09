"""The threads that all programs of this process share their products with."""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.kernels.sharing import DONE, LOCK, POOL_BYTES, SHARING, USE_POOL, WORK, WORKER
from hotdesk.runtime.jit import Machine

_VARIABLES = ("HOTDESK_NUM_THREADS", "OMP_NUM_THREADS")


class ThreadPool:
    """The caller's thread and `threads - 1` more, which sleep until a program shares out work.

    It lives as long as the process: its threads never return. After a fork the child has none of them, and works alone.
    """

    def __init__(self, threads: int) -> None:
        self._machine = Machine(ir.Module.parse(SHARING, make_context()), [])
        self._block = ctypes.create_string_buffer(POOL_BYTES + 64)
        self._address = (ctypes.addressof(self._block) + 63) & -64
        self._threads = threads
        self._initialize()
        for number in range(1, threads):
            arguments = (WORKER, self._address)
            threading.Thread(target=self._machine.call, args=arguments, name=f"hotdesk-{number}", daemon=True).start()

    def _initialize(self) -> None:
        library = ctypes.CDLL(None)
        ctypes.memset(self._address, 0, POOL_BYTES)
        library.pthread_mutex_init(ctypes.c_void_p(self._address + LOCK), None)
        for condition in (WORK, DONE):
            library.pthread_cond_init(ctypes.c_void_p(self._address + condition), None)

    def serve(self, machine: Machine) -> None:
        """Lets code that shares out work (`SHARING`) share it with these threads."""
        machine.call(USE_POOL, self._address, self._threads)

    def forked(self) -> None:
        """In the child of a fork, where another thread may have held the lock."""
        self._initialize()


def thread_count() -> int:
    """How many threads products may use: what the environment says, else as many as there are cores for this process."""
    for variable in _VARIABLES:
        text = os.environ.get(variable, "")
        if text.isdigit() and int(text):
            return int(text)
    return core_count()


def core_count() -> int:
    """How many processor cores there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def thread_pool() -> ThreadPool:
    """The pool of this process."""
    pool = ThreadPool(thread_count())
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))  # its threads wait inside its code until the process ends
    os.register_at_fork(after_in_child=pool.forked)
    return pool
