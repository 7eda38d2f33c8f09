"""What a program remembers from call to call, and what it holds and costs."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
import torch

from hotdesk.errors import (
    ExecutionError,
    OptionError,
)
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.program import Program
from tests.unit.runtime.fake import Fake
from tests.unit.runtime.programs import S0, SUM, X, Y, adding, example, stacking


def test_a_plan_is_made_once_for_each_value_of_the_symbols() -> None:
    fake = stacking()
    program = Program(fake)
    for rows in (1, 2, 1, 2):
        program(torch.ones(rows, 3), torch.ones(2 * rows, 3))
        program(np.ones((rows, 3), np.float32), torch.ones(2 * rows, 3))
    assert fake.bound == [{"s0": 1}, {"s0": 2}]


def test_the_plan_used_longest_ago_goes_first() -> None:
    fake = stacking()
    program = Program(fake, plans=2)
    for rows in (1, 2, 1, 3, 1, 2):
        program(torch.ones(rows, 3), torch.ones(2 * rows, 3))
    assert [bound["s0"] for bound in fake.bound] == [1, 2, 3, 2]


def test_what_is_remembered_is_bounded() -> None:
    fake = Fake((TensorSpec("x", "f32", (S0,)),), (TensorSpec("r", "f32", (S0,)),), lambda x: (x,))
    program = Program(fake, plans=3)
    for size in [*range(50), *range(50)]:
        assert program(torch.full((size,), float(size))).tolist() == [float(size)] * size
    assert (program.plans.kept, program.plans.made, program.plans.laid_out) == (3, 100, 100)
    assert program._remembered.signatures <= 12


def test_plans_are_bounded_by_bytes() -> None:
    """Each plan of the fake says that it takes 1000 bytes. The one used last is kept, however large."""
    fake = stacking()
    program = Program(fake, plan_bytes=2500)
    for rows in (1, 2, 3, 2, 1):
        program(torch.ones(rows, 3), torch.ones(2 * rows, 3))
    assert [bound["s0"] for bound in fake.bound] == [1, 2, 3, 1]
    assert (program.plans.kept, program.plans.bytes, program.plans.reused) == (2, 2000, 1)
    small = Program(stacking(), plan_bytes=1)
    small(torch.ones(1, 3), torch.ones(2, 3))
    assert (small.plans.kept, small.plans.bytes) == (1, 1000)
    with pytest.raises(OptionError, match="plan_bytes: expected at least 1, got 0"):
        Program(stacking(), plan_bytes=0)


def test_plans_must_be_kept() -> None:
    with pytest.raises(OptionError, match="plans: expected at least 1, got 0"):
        Program(adding(), plans=0)


def test_neither_arguments_nor_results_are_held() -> None:
    program, x = Program(adding()), example()
    refs = [weakref.ref(x), weakref.ref(program(x, x))]
    del x
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def test_a_call_seen_before_allocates_no_tensor_data() -> None:
    big = TensorSpec("x", "f32", (1 << 18,))
    program = Program(Fake((big,), (big,), lambda x: (x,)))
    x, out = np.ones(1 << 18, np.float32), np.empty(1 << 18, np.float32)
    program(x, out=out)
    tracemalloc.start()
    try:
        program(x, out=out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 16


def test_a_failed_run_leaves_the_program_usable() -> None:
    fails = [True]

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
        if fails.pop():
            raise ExecutionError("an index", expected="0 <= index < 3", got="one outside", where="model.py:9")
        return (x + y,)

    program = Program(Fake((X, Y), (SUM,), compute))
    with pytest.raises(ExecutionError, match=r"model\.py:9"):
        program(example(), example())
    fails.append(False)
    assert torch.equal(program(example(), example()), example() + example())


def test_threads_run_at_once() -> None:
    meeting = threading.Barrier(6, timeout=60)

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        meeting.wait()  # nobody gets past it alone
        return np.concatenate([x, x]) + y, x.reshape(-1)

    fake = stacking()
    fake.compute = compute
    program, wrong = Program(fake), []

    def work(rows: int) -> None:
        for _ in range(5):
            total, _ = program(torch.full((rows, 3), float(rows)), torch.ones(2 * rows, 3))
            if not torch.equal(total, torch.full((2 * rows, 3), rows + 1.0)):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(fake.runs) == 30
