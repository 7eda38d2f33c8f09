"""The threads that all programs of this process share their products with."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Protocol
from zlib import crc32

import numpy as np

from hotdesk.errors import OptionError
from hotdesk.kernels.jobs import MOST_THREADS
from hotdesk.kernels.scratch import HELD_AT, SCRATCH_BYTES, SLOTS_AT, TAKEN
from hotdesk.kernels.sharing import (
    CPUS,
    DONE,
    HOME_AT,
    LEFT_OUT_AT,
    LOCK,
    POOL_BYTES,
    SHARING,
    USE_POOL,
    WORK,
    WORKER,
    WORKERS_AT,
)
from hotdesk.runtime.arguments.tensors import address_of
from hotdesk.runtime.code.objects import c_library

_VARIABLES = ("HOTDESK_NUM_THREADS", "OMP_NUM_THREADS")


class CallableCode(Protocol):
    """Machine code whose functions of pointers and `i64`s are called by name; `packed` ones take an array of their addresses."""

    def call(self, name: str, *arguments: int) -> None: ...
    def packed(self, name: str) -> int: ...


@cache
def pool_kind() -> str:
    """What tells pools apart that code of this version and of another would not share: their memory may mean other things."""
    return f"{crc32(SHARING.encode()):08x}"


class ThreadPool:
    """The caller's thread and as many more as were asked for, which spin for a moment and then sleep until work is shared out.

    It lives as long as the process: its threads never return. After a fork the child has none of them, and works alone.
    """

    def __init__(self, code: CallableCode | None = None) -> None:
        """`code` is that of `SHARING`; without any it is compiled."""
        self._machine = _compiled_sharing() if code is None else code
        self._block = np.zeros(POOL_BYTES + 64 + 16, np.uint8)
        self.address = (address_of(self._block) + 63) & -64
        given = self.address + POOL_BYTES
        # what threads begin with: the pool, packed
        ctypes.memmove(given, struct.pack("2N", given + 8, self.address), 16)
        self._started = 0
        self._served: list[CallableCode] = []
        self._initialize()

    def _initialize(self) -> None:
        library = c_library()
        ctypes.memset(self.address, 0, HELD_AT)
        library["pthread_mutex_init"](ctypes.c_void_p(self.address + LOCK), None)
        for condition in (WORK, DONE):
            library["pthread_cond_init"](ctypes.c_void_p(self.address + condition), None)

    def use(self, threads: int) -> None:
        """Has work shared among so many threads from now on; those that are too many sleep."""
        for machine in self._served:
            machine.call(USE_POOL, self.address, threads)
        if not self._started:
            self._note_home_cores()
        while self._started < threads - 1 and self._start(self._started):
            self._started += 1

    def _note_home_cores(self) -> None:
        """Notes in the pool on which cores the threads that start now may run: they inherit that from this one."""
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
        bits = sum(1 << core for core in cores if core < CPUS)
        ctypes.memmove(self.address + HOME_AT, bits.to_bytes(CPUS // 8, "little"), CPUS // 8)

    def _start(self, number: int) -> bool:
        """Starts a thread of the pool, which takes jobs for ever, and notes its number; False if there can be none.

        It is none of Python's: what that keeps of each would be more than a small program holds.
        """
        library, thread = c_library(), ctypes.c_size_t()
        begin, given = self._machine.packed(WORKER), self.address + POOL_BYTES
        if library["pthread_create"](ctypes.byref(thread), None, ctypes.c_void_p(begin), ctypes.c_void_p(given)):
            return False
        if sys.platform == "linux":
            library["pthread_setname_np"](thread, f"hotdesk-{number + 1}".encode())
            clock = time.pthread_getcpuclockid(thread.value)  # which Linux makes of the number
            ctypes.c_int64.from_address(self.address + WORKERS_AT + 8 * number).value = ~(clock >> 3)
            ctypes.c_int64.from_address(self.address + LEFT_OUT_AT).value = 0  # of this thread nothing is left out yet
        return True

    def serve(self, machine: CallableCode, threads: int) -> None:
        """Lets code that shares out work (`SHARING`) share it with these threads, for as long as the process lives."""
        self._served.append(machine)
        self.use(threads)

    @property
    def scratch_bytes(self) -> int:
        """Bytes of all its blocks of scratch memory."""
        return ctypes.c_int64.from_address(self.address + HELD_AT).value

    def forked(self) -> None:
        """In the child of a fork, where another thread may have held the lock, or blocks of scratch memory."""
        slots = (ctypes.c_int64 * (SCRATCH_BYTES // 8)).from_address(self.address + SLOTS_AT)
        slots[:] = [0 if slot == TAKEN else slot for slot in slots]
        ctypes.memset(self.address + WORKERS_AT, 0, POOL_BYTES - WORKERS_AT)
        self._initialize()
        self._started = 0


def _compiled_sharing() -> CallableCode:
    from hotdesk._bindings import ir
    from hotdesk.ir.context import make_context
    from hotdesk.runtime.code.jit import CompiledCode

    return CompiledCode(lambda: ir.Module.parse(SHARING, make_context()), [], source=SHARING)


class _ProcessPools:
    """The pools of this process by kind, each made when work is first shared, and how many threads they are to have."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.threads: int | None = None
        self.pools: dict[str, ThreadPool] = {}


_process = _ProcessPools()


def serve(machine: CallableCode, make: Callable[[], ThreadPool] = ThreadPool, kind: str | None = None) -> None:
    """Lets code that shares out work share it with the threads of this process.

    `make` makes the pool where there is none of this kind yet, that of `pool_kind()` if none is given.
    """
    kind = kind or pool_kind()
    with _process.lock:
        pool = _process.pools.get(kind)
        if pool is None:
            if not _process.pools and hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forked)
            pool = _process.pools[kind] = make()
            # its threads wait inside its code until the process ends
            ctypes.pythonapi["Py_IncRef"](ctypes.py_object(pool))
        pool.serve(machine, get_num_threads())


def _forked() -> None:
    _process.lock = threading.RLock()
    for pool in _process.pools.values():
        pool.forked()


def set_num_threads(threads: int) -> None:
    """Has kernels use so many threads, the caller's included, in all programs of this process, from their next calls on.

    Without it the environment says how many (`HOTDESK_NUM_THREADS`, else `OMP_NUM_THREADS`), else there are as many as processor
    cores. For the same number of threads, results are the same. Raises OptionError for a number below 1 or above 64.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError("threads", expected=f"a number from 1 to {MOST_THREADS}", got=repr(threads))
    with _process.lock:
        _process.threads = threads
        for pool in _process.pools.values():
            pool.use(threads)


def get_num_threads() -> int:
    """How many threads kernels may use, the caller's included."""
    if _process.threads is not None:
        return _process.threads
    for variable in _VARIABLES:
        text = os.environ.get(variable, "")
        if text.isdigit() and int(text):
            return min(int(text), MOST_THREADS)
    return min(core_count(), MOST_THREADS)


def scratch_bytes() -> int:
    """Bytes of scratch memory that this process keeps for its kernels from call to call: all programs and threads share it.

    Panels of products and of Winograd's filtering, scores of attention, weights of 16 bits that were widened. There are as many
    blocks of each kind as threads have computed at once, each as large as what it was last too small for.
    """
    with _process.lock:
        return sum(pool.scratch_bytes for pool in _process.pools.values())


def core_count() -> int:
    """How many processor cores there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
