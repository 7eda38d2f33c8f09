"""Programs that share the pool: from several threads at once, and after a fork."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk._bindings import ir
from hotdesk.errors import OptionError
from hotdesk.ir.context import make_context
from hotdesk.kernels.sharing import ASLEEP_AT, LEFT_OUT_AT, SHARING, WORKERS_AT
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.threads import ThreadPool, core_count
from tests.harness import Compiled, everything

PROGRAM = """
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
"""
A, B = (np.random.default_rng(seed).integers(-3, 4, (512, 512)).astype(np.float32) for seed in (1, 2))


def _right(program: Compiled) -> bool:
    return np.array_equal(program(A, B)[0], A @ B)


def test_programs_that_run_at_once() -> None:
    programs = [Compiled(PROGRAM, everything) for _ in range(4)]
    with ThreadPoolExecutor(len(programs)) as callers:
        right = callers.map(lambda program: [_right(program) for _ in range(50)], programs)
    assert all(map(all, right))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_works_alone() -> None:
    program = Compiled(PROGRAM, everything)
    assert _right(program)
    child = os.fork()
    if not child:
        os._exit(0 if all(_right(program) for _ in range(20)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _right(program)


def test_calls_of_one_program_at_once_have_an_arena_each() -> None:
    class Deep(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = torch.tanh(layer(x)) + x.mean(-1, keepdim=True)
            return x

    inputs = [torch.randn(192, 256, generator=torch.Generator().manual_seed(seed)) for seed in range(8)]
    program = hotdesk.compile(Deep().eval(), (inputs[0],))
    expected = [program(x) for x in inputs]
    assert program.arenas == 1
    start = threading.Barrier(len(inputs), timeout=60)

    def work(number: int) -> bool:
        start.wait()
        return all(torch.equal(program(inputs[number]), expected[number]) for _ in range(60))

    with ThreadPoolExecutor(len(inputs)) as callers:
        right = list(callers.map(work, range(len(inputs))))
    assert all(right)
    assert 1 <= program.arenas <= core_count()


@pytest.mark.skipif(sys.platform != "linux", reason="a system that shows threads elsewhere")
def test_threads_of_the_pool_are_none_of_pythons() -> None:
    """Python keeps kilobytes of each of its threads."""
    code = f"""
import os, threading
from pathlib import Path
import numpy, hotdesk
hotdesk.set_num_threads(3)
program = hotdesk.compile({PROGRAM!r})
a = numpy.ones((512, 512), numpy.float32)
assert (program(a, a) == 512).all()
names = sorted(Path(f"/proc/self/task/{{each}}/comm").read_text().strip() for each in os.listdir("/proc/self/task"))
print([name for name in names if name.startswith("hotdesk-") and name[8:].isdigit()])
print([thread.name for thread in threading.enumerate() if thread.name[8:].isdigit()])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['hotdesk-1', 'hotdesk-2']", "[]"]


@pytest.fixture
def threads() -> Iterator[None]:
    before = hotdesk.get_num_threads()
    yield
    hotdesk.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_may_change_at_any_time() -> None:
    program = Compiled(PROGRAM, everything)
    for count in (1, 4, 2, 3, 1):
        hotdesk.set_num_threads(count)
        assert hotdesk.get_num_threads() == count
        assert _right(program)


@pytest.mark.parametrize("wrong", [0, -1, 65, 2.0, True, "2"])
def test_a_number_of_threads_that_is_none(wrong: Any) -> None:
    with pytest.raises(OptionError, match="a number from 1 to 64"):
        hotdesk.set_num_threads(wrong)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({"OMP_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "3", "HOTDESK_NUM_THREADS": "5"}, 5)],
)
def test_the_environment_says_how_many(variables: dict[str, str], expected: int) -> None:
    code = (
        "import hotdesk; print(hotdesk.get_num_threads()); hotdesk.set_num_threads(2); print(hotdesk.get_num_threads())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(expected), "2"]


JOBS = (
    SHARING
    + """
llvm.func @count(%job: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %old = llvm.atomicrmw add %job, %one acq_rel : !llvm.ptr, i64
  llvm.return
}
llvm.func @share(%jobs: !llvm.ptr, %count: i64) {
  %f = llvm.mlir.addressof @count : !llvm.ptr
  %stride = llvm.mlir.constant(8 : i64) : i64
  llvm.call @hotdesk_share(%f, %jobs, %stride, %count) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.return
}
"""
)


def test_each_job_is_done_once_whether_threads_spin_or_sleep() -> None:
    with make_context():
        machine = CompiledCode(ir.Module.parse(JOBS), [])
    pool = ThreadPool()
    pool.serve(machine, 3)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object((pool, machine)))  # threads wait in its code
    for pause in (0.0, 0.001):
        for count in (1, 2, 3, 7) * 40:
            done = np.zeros(count, np.int64)
            machine.call("share", done.ctypes.data, count)
            assert np.array_equal(done, np.ones(count, np.int64))
            time.sleep(pause)


def test_two_that_share_at_once_neither_wait_for_ever_nor_take_each_others_jobs() -> None:
    with make_context():
        machine = CompiledCode(ir.Module.parse(JOBS), [])
    pool = ThreadPool()
    pool.serve(machine, 3)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object((pool, machine)))

    def work(_: int) -> bool:
        right = True
        for count in (2, 3, 5) * 200:
            done = np.zeros(count, np.int64)
            machine.call("share", done.ctypes.data, count)
            right = right and np.array_equal(done, np.ones(count, np.int64))
        return right

    with ThreadPoolExecutor(4) as callers:
        assert all(callers.map(work, range(4)))


@pytest.mark.skipif(sys.platform != "linux" or core_count() < 2, reason="affinities of several cores")
def test_threads_that_slept_leave_out_the_core_of_the_caller_if_enough_are_left() -> None:
    """Where schedulers take idle cores of a virtual machine for busy, they would wake them on it."""
    with make_context():
        machine = CompiledCode(ir.Module.parse(JOBS), [])
    allowed = os.sched_getaffinity(0)
    few, many = (_SleepingPool(machine, threads) for threads in (2, len(allowed) + 1))
    one = threading.Thread(target=lambda: (os.sched_setaffinity(0, {min(allowed)}), few.share(), many.share()))
    one.start()
    one.join()
    assert few.affinities() == [allowed - {min(allowed)}]
    assert many.affinities() == [allowed] * len(allowed)
    few.share()
    assert few.left_out.value - 1 in allowed
    assert few.affinities() == [allowed - {few.left_out.value - 1}]


class _SleepingPool:
    """A pool whose threads sleep whenever work is shared out."""

    def __init__(self, machine: CompiledCode, threads: int) -> None:
        self._machine, self._threads = machine, threads
        self._pool = ThreadPool()
        self._pool.serve(machine, threads)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((self._pool, machine)))
        self.left_out = ctypes.c_int64.from_address(self._pool.address + LEFT_OUT_AT)
        self._workers = (ctypes.c_int64 * (threads - 1)).from_address(self._pool.address + WORKERS_AT)
        self._asleep = ctypes.c_int64.from_address(self._pool.address + ASLEEP_AT)

    def share(self) -> None:
        self._pool.serve(self._machine, self._threads)
        end = time.monotonic() + 60
        while self._asleep.value < self._threads - 1 and time.monotonic() < end:
            time.sleep(0.001)
        done = np.zeros(3, np.int64)
        self._machine.call("share", done.ctypes.data, 3)
        assert done.all()

    def affinities(self) -> list[set[int]]:
        return [os.sched_getaffinity(each) for each in self._workers]
