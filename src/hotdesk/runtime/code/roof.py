"""What this machine can do, measured once a process: operations of fused multiply-adds on registers, and bytes of a long copy."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from threading import Barrier, Thread
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hotdesk.kernels.machine import host
from hotdesk.kernels.roof import operations_per_step, roof_elements, roof_module, roof_name, roof_types
from hotdesk.report.profile import Roof
from hotdesk.runtime.cache import generators
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.threads import get_num_threads

Values: TypeAlias = "npt.NDArray[np.float64]"

_ROUNDS = 12  # the best counts: others may take the processor
_STEPS = 200_000
_COPIED = 32 << 20  # bytes a thread, more than caches hold


def measured_roof() -> Roof:
    """The roof of as many threads as programs use. Takes about half a second the first time for a number of threads."""
    return _measured(get_num_threads())


@cache
def _measured(threads: int) -> Roof:
    machine = host()
    compiled = CompiledCode(lambda: roof_module(machine), [], source=f"roof {generators()} {machine}")
    flops: dict[str, float] = {}
    for element in roof_types(machine):
        results = [np.zeros(roof_elements(machine, element)) for _ in range(threads)]

        def multiply(number: int, name: str = roof_name(element), to: list[Values] = results) -> None:
            compiled.call(name, _STEPS, to[number].ctypes.data)

        seconds = _quickest(threads, multiply)
        flops[element] = threads * operations_per_step(machine, element) * _STEPS / seconds
    sources = [np.zeros(_COPIED, np.uint8) for _ in range(threads)]
    targets = [np.ones(_COPIED, np.uint8) for _ in range(threads)]
    seconds = _quickest(threads, lambda number: np.copyto(targets[number], sources[number]))
    return Roof(threads, flops, 2 * threads * _COPIED / seconds)


def _quickest(threads: int, run: Callable[[int], None]) -> float:
    """The least seconds of processor time in which every thread has run, each with its number, all at once.

    What they run gives up Python's lock. A thread's own time is not that of others who want its core.
    """
    gate, times = Barrier(threads), [[0.0] * _ROUNDS for _ in range(threads)]

    def work(number: int) -> None:
        for turn in range(_ROUNDS):
            gate.wait()
            start = time.thread_time()
            run(number)
            times[number][turn] = time.thread_time() - start

    workers = [Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return min(max(turn) for turn in zip(*times, strict=True))
