"""Calling a program: what it returns, what is read where it lies, and what it says about itself."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import sympy
import torch

from hotdesk.errors import (
    ArgumentCountError,
    OptionError,
)
from hotdesk.explain import Outcome, Reason
from hotdesk.runtime.interface import Binding, TensorSpec
from hotdesk.runtime.program import Program
from tests.unit.runtime.fake import Fake
from tests.unit.runtime.programs import SUM, X, Y, adding, example, stacking


def test_torch_in_torch_out() -> None:
    x = example()
    result = Program(adding())(x, x)
    assert type(result) is torch.Tensor
    assert torch.equal(result, x + x)


def test_numpy_in_numpy_out() -> None:
    x = example("numpy")
    result = Program(adding())(x, x)
    assert type(result) is np.ndarray
    assert np.array_equal(result, x + x)


def test_one_torch_tensor_makes_the_results_torch() -> None:
    assert type(Program(adding())(example("numpy"), example())) is torch.Tensor


@pytest.mark.parametrize(("kind", "expected"), [("torch", torch.Tensor), ("numpy", np.ndarray)])
def test_without_inputs_the_kind_is_the_front_ends(kind: Any, expected: type) -> None:
    program = Program(Fake((), (TensorSpec("one", "f64", ()),), lambda: (np.float64(1),)), kind=kind)
    assert type(program()) is expected
    assert float(program()) == 1.0


def test_several_results_are_a_tuple() -> None:
    x, y = torch.ones(2, 3), torch.ones(4, 3)
    total, flat = Program(stacking())(x, y)
    assert torch.equal(total, torch.full((4, 3), 2.0))
    assert torch.equal(flat, torch.ones(6))


def test_no_results_are_an_empty_tuple() -> None:
    assert Program(Fake((X,), (), lambda x: ()))(example()) == ()


def test_arguments_by_name() -> None:
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    difference = Program(Fake((X, Y), (SUM,), lambda x, y: (x - y,)))
    assert torch.equal(difference(y=y, x=x), x)
    assert torch.equal(difference(x, y=y), x)


def test_a_front_end_may_flatten_and_unflatten() -> None:
    class Nested:
        def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
            return [args[0]["x"], *kwargs["rest"]]

        def unflatten(self, results: list[Any], symbols: dict[str, int], leaves: list[Any]) -> dict[str, Any]:
            return {"sum": results[0], "rows": symbols["s0"]}

    result = Program(stacking(), calling=Nested())({"x": torch.ones(2, 3)}, rest=[torch.ones(4, 3)])
    assert result["rows"] == 2
    assert torch.equal(result["sum"], torch.full((4, 3), 2.0))


def test_gradients_are_accepted_and_not_carried() -> None:
    x = torch.nn.Parameter(torch.ones(2, 3))
    assert not Program(adding())(x, x).requires_grad


def test_works_in_inference_mode_and_with_its_tensors() -> None:
    program = Program(adding())
    with torch.inference_mode():
        x = torch.ones(2, 3)
        assert torch.equal(program(x, x), x + x)
        program(x, x, out=torch.empty(2, 3))
    assert torch.equal(program(x, x), x + x)


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_zero_sizes(make: Callable[..., Any]) -> None:
    program = Program(stacking())
    total, flat = (
        program(make((0, 3), dtype=torch.float32), make((0, 3), dtype=torch.float32))
        if make is torch.zeros
        else program(make((0, 3), np.float32), make((0, 3), np.float32))
    )
    assert tuple(total.shape) == (0, 3)
    assert tuple(flat.shape) == (0,)
    assert program.memory(make((0, 3), dtype=total.dtype), make((0, 3), dtype=total.dtype)).outputs == 0


def test_other_element_types() -> None:
    spec = TensorSpec("b", "bf16", (2,))
    program = Program(Fake((spec,), (spec,), lambda b: (b,)))
    assert program(torch.ones(2, dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert program(np.ones(2, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


# Arguments that have to be copied


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(6.0).reshape(3, 2).T,
        torch.ones(1, 3).expand(2, 3),
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::-2],
    ],
)
def test_a_non_contiguous_argument_is_copied(x: torch.Tensor | np.ndarray) -> None:
    fake = adding()
    program = Program(fake)
    for _ in range(2):
        result = program(x, x)
        assert np.array_equal(np.asarray(result), np.asarray(x) * 2)
    assert len(fake.bound) == 1
    assert program.memory(x, x).copies == 48
    copies = [found for found in program.decisions(x, x) if found.reason is Reason.NON_CONTIGUOUS_ARGUMENT]
    assert [(found.subject, found.outcome, found.bytes) for found in copies] == [
        ("x", Outcome.COPIED, 24),
        ("y", Outcome.COPIED, 24),
    ]
    assert "copies     48 bytes, once a call, of non-contiguous arguments: x, y" in program.report(x, x)


def test_a_contiguous_argument_is_read_where_it_lies() -> None:
    fake = adding()
    x, y = example(), example("numpy")
    Program(fake)(x, y)
    assert fake.runs[0][0] == [x.data_ptr(), y.ctypes.data]


def test_an_unaligned_argument_is_copied() -> None:
    raw = np.frombuffer(bytes(range(25)), np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert np.array_equal(Program(adding())(raw, raw), raw + raw)


def test_read_only_arguments_are_fine() -> None:
    x = example("numpy")
    x.flags.writeable = False
    assert np.array_equal(Program(adding())(x, x), x + x)


def test_the_copy_lives_while_the_program_runs() -> None:
    def churn(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
        gc.collect()
        taken = [np.full((2, 3), -1, np.float32) for _ in range(100)]
        return (x + y + 0 * taken[0],)

    x = torch.arange(6.0).reshape(3, 2).T
    assert torch.equal(Program(Fake((X, Y), (SUM,), churn))(x, x), x + x)


# What it says about itself


def test_memory_and_decisions_are_numbers() -> None:
    program = Program(stacking())
    arguments = torch.ones(2, 3), torch.ones(4, 3)
    memory = program.memory(*arguments)
    assert (memory.inputs, memory.outputs, memory.copies) == (72, 72, 0)
    assert [(found.subject, found.bytes) for found in program.decisions(*arguments)] == [("tmp", 24)]


def test_inspecting_needs_no_arguments_without_dynamic_sizes() -> None:
    fake = adding()
    program = Program(fake)
    assert program.memory() == program.memory(example(), example())
    assert program.report() == program.report(example(), example())
    assert not fake.runs
    with pytest.raises(ArgumentCountError):
        Program(stacking()).memory()


def test_report(golden: Callable[[str, str], None]) -> None:
    golden("program_report.txt", Program(stacking(), name="rows").report(torch.ones(2, 3), torch.ones(3, 4).T))


def test_summary_is_the_record_of_the_report() -> None:
    summary = Program(stacking(), name="rows").summary(torch.ones(2, 3), torch.ones(4, 3))
    assert (summary.name, summary.symbols) == ("rows", (("s0", 2),))
    none = ((Outcome.IN_PLACE, 0), (Outcome.COPIED, 0))
    assert summary.outcomes == (*none, (Outcome.ALLOCATED, 1), (Outcome.SHARED, 0))


def test_stages_and_timings() -> None:
    program = Program(adding(), timings={"export": 1.5}, stages={"bufferize": "module {}", "llvm": "module { }"})
    assert program.timings == {"export": 1.5}
    assert program.stages == ("bufferize", "llvm")
    assert program.ir("llvm") == "module { }"
    with pytest.raises(OptionError, match="stage 'bufferized': expected one of bufferize, llvm, got no such stage"):
        program.ir("bufferized")
    with pytest.raises(OptionError, match="compiled to keep its stages"):
        Program(adding()).ir("llvm")


def test_repr_shows_the_types() -> None:
    assert repr(Program(stacking(), name="rows")) == (
        "<Program rows(x: f32[s0, 3], y: f32[2*s0, 3]) -> (f32[2*s0, 3], f32[3*s0])>"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_a_plan_that_a_thread_of_its_parent_makes() -> None:
    planning, forked = threading.Event(), threading.Event()

    class Slow(Fake):
        def bind(self, symbols: Mapping[str, int]) -> Binding:
            if symbols["n"] == 3:
                planning.set()
                forked.wait()
            return super().bind(symbols)

    spec = TensorSpec("x", "f32", (sympy.Symbol("n", integer=True),))
    program = Program(Slow((spec,), (spec,), lambda x: (x + 1,)))
    thread = threading.Thread(target=program, args=(np.zeros(3, np.float32),))
    thread.start()
    planning.wait()
    child = os.fork()
    if not child:
        signal.alarm(10)
        os._exit(0 if program(np.zeros(2, np.float32)).tolist() == [1, 1] else 1)
    forked.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
