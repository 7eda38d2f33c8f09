"""The threads that all programs of this process share their products with."""

from __future__ import annotations

import ctypes
import os
import threading

from hotdesk._bindings import ir
from hotdesk.errors import OptionError
from hotdesk.ir.context import make_context
from hotdesk.kernels.jobs import MOST_THREADS
from hotdesk.kernels.sharing import DONE, LOCK, POOL_BYTES, SHARING, USE_POOL, WORK, WORKER
from hotdesk.runtime.code.jit import Machine

_VARIABLES = ("HOTDESK_NUM_THREADS", "OMP_NUM_THREADS")


class ThreadPool:
    """The caller's thread and as many more as were asked for, which spin for a moment and then sleep until work is shared out.

    It lives as long as the process: its threads never return. After a fork the child has none of them, and works alone.
    """

    def __init__(self) -> None:
        self._machine = Machine(lambda: ir.Module.parse(SHARING, make_context()), [], source=SHARING)
        self._block = ctypes.create_string_buffer(POOL_BYTES + 64)
        self._address = (ctypes.addressof(self._block) + 63) & -64
        self._started = 0
        self._served: list[Machine] = []
        self._initialize()

    def _initialize(self) -> None:
        library = ctypes.CDLL(None)
        ctypes.memset(self._address, 0, POOL_BYTES)
        library.pthread_mutex_init(ctypes.c_void_p(self._address + LOCK), None)
        for condition in (WORK, DONE):
            library.pthread_cond_init(ctypes.c_void_p(self._address + condition), None)

    def use(self, threads: int) -> None:
        """Has work shared among so many threads from now on; those that are too many sleep."""
        for machine in self._served:
            machine.call(USE_POOL, self._address, threads)
        while self._started < threads - 1:
            self._started += 1
            arguments = (WORKER, self._address)
            name = f"hotdesk-{self._started}"
            threading.Thread(target=self._machine.call, args=arguments, name=name, daemon=True).start()

    def serve(self, machine: Machine, threads: int) -> None:
        """Lets code that shares out work (`SHARING`) share it with these threads, for as long as the process lives."""
        self._served.append(machine)
        self.use(threads)

    def forked(self) -> None:
        """In the child of a fork, where another thread may have held the lock."""
        self._initialize()
        self._started = 0


class _Process:
    """The pool of this process, made when work is first shared, and how many threads it is to have."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.threads: int | None = None
        self.pool: ThreadPool | None = None


_process = _Process()


def serve(machine: Machine) -> None:
    """Lets code that shares out work share it with the threads of this process."""
    with _process.lock:
        if _process.pool is None:
            _process.pool = ThreadPool()
            # its threads wait inside its code until the process ends
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(_process.pool))
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forked)
        _process.pool.serve(machine, get_num_threads())


def _forked() -> None:
    _process.lock = threading.RLock()
    if _process.pool is not None:
        _process.pool.forked()


def set_num_threads(threads: int) -> None:
    """Has kernels use so many threads, the caller's included, in all programs of this process, from their next calls on.

    Without it the environment says how many (`HOTDESK_NUM_THREADS`, else `OMP_NUM_THREADS`), else there are as many as processor
    cores. For the same number of threads, results are the same. Raises OptionError for a number below 1 or above 64.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError("threads", expected=f"a number from 1 to {MOST_THREADS}", got=repr(threads))
    with _process.lock:
        _process.threads = threads
        if _process.pool is not None:
            _process.pool.use(threads)


def get_num_threads() -> int:
    """How many threads kernels may use, the caller's included."""
    if _process.threads is not None:
        return _process.threads
    for variable in _VARIABLES:
        text = os.environ.get(variable, "")
        if text.isdigit() and int(text):
            return min(int(text), MOST_THREADS)
    return min(core_count(), MOST_THREADS)


def core_count() -> int:
    """How many processor cores there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
