"""Calling a program: every check before it runs, and what it costs once it has been seen."""

from __future__ import annotations

import gc
import re
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import sympy
import torch

from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DeviceError,
    DtypeError,
    ExecutionError,
    HotdeskError,
    LayoutError,
    OptionError,
    OutputOverlapError,
    RankError,
    ShapeError,
)
from hotdesk.explain import Outcome, Reason
from hotdesk.runtime.interface import TensorSpec, WeightRange
from hotdesk.runtime.program import Program
from tests.unit.runtime.fake import Fake

S0, S1 = sympy.Symbol("s0"), sympy.Symbol("s1")
X = TensorSpec("x", "f32", (2, 3), "model.py:1")
Y = TensorSpec("y", "f32", (2, 3), "model.py:1")
SUM = TensorSpec("sum", "f32", (2, 3), "model.py:4")


def _add() -> Fake:
    return Fake((X, Y), (SUM,), lambda x, y: (x + y,))


def _rows() -> Fake:
    """`x[s0, 3]`, `y[2*s0, 3]` to a sum of `[2*s0, 3]` and the flat `x`."""
    inputs = (TensorSpec("x", "f32", (S0, 3)), TensorSpec("y", "f32", (2 * S0, 3)))
    results = (TensorSpec("sum", "f32", (2 * S0, 3)), TensorSpec("flat", "f32", (3 * S0,)))
    return Fake(inputs, results, lambda x, y: (np.concatenate([x, x]) + y, x.reshape(-1)), {"s0": (0, 8)})


def _x(make: str = "torch") -> Any:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    return torch.from_numpy(array) if make == "torch" else array


# Results


def test_torch_in_torch_out() -> None:
    x = _x()
    result = Program(_add())(x, x)
    assert type(result) is torch.Tensor
    assert torch.equal(result, x + x)


def test_numpy_in_numpy_out() -> None:
    x = _x("numpy")
    result = Program(_add())(x, x)
    assert type(result) is np.ndarray
    assert np.array_equal(result, x + x)


def test_one_torch_tensor_makes_the_results_torch() -> None:
    assert type(Program(_add())(_x("numpy"), _x())) is torch.Tensor


@pytest.mark.parametrize(("kind", "expected"), [("torch", torch.Tensor), ("numpy", np.ndarray)])
def test_without_inputs_the_kind_is_the_front_ends(kind: Any, expected: type) -> None:
    program = Program(Fake((), (TensorSpec("one", "f64", ()),), lambda: (np.float64(1),)), kind=kind)
    assert type(program()) is expected
    assert float(program()) == 1.0


def test_several_results_are_a_tuple() -> None:
    x, y = torch.ones(2, 3), torch.ones(4, 3)
    total, flat = Program(_rows())(x, y)
    assert torch.equal(total, torch.full((4, 3), 2.0))
    assert torch.equal(flat, torch.ones(6))


def test_no_results_are_an_empty_tuple() -> None:
    assert Program(Fake((X,), (), lambda x: ()))(_x()) == ()


def test_arguments_by_name() -> None:
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    difference = Program(Fake((X, Y), (SUM,), lambda x, y: (x - y,)))
    assert torch.equal(difference(y=y, x=x), x)
    assert torch.equal(difference(x, y=y), x)


def test_a_front_end_may_flatten_and_unflatten() -> None:
    class Nested:
        def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
            return [args[0]["x"], *kwargs["rest"]]

        def unflatten(self, results: list[Any], symbols: dict[str, int]) -> dict[str, Any]:
            return {"sum": results[0], "rows": symbols["s0"]}

    result = Program(_rows(), calling=Nested())({"x": torch.ones(2, 3)}, rest=[torch.ones(4, 3)])
    assert result["rows"] == 2
    assert torch.equal(result["sum"], torch.full((4, 3), 2.0))


def test_gradients_are_accepted_and_not_carried() -> None:
    x = torch.nn.Parameter(torch.ones(2, 3))
    assert not Program(_add())(x, x).requires_grad


def test_works_in_inference_mode_and_with_its_tensors() -> None:
    program = Program(_add())
    with torch.inference_mode():
        x = torch.ones(2, 3)
        assert torch.equal(program(x, x), x + x)
        program(x, x, out=torch.empty(2, 3))
    assert torch.equal(program(x, x), x + x)


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_zero_sizes(make: Callable[..., Any]) -> None:
    program = Program(_rows())
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


# Arguments that do not fit


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p(_x()), ArgumentCountError, "arguments: expected 2 (x, y), got 1, without y"),
        (lambda p: p(), ArgumentCountError, "got 0, without x, y"),
        (lambda p: p(_x(), _x(), _x()), ArgumentCountError, "expected 2 (x, y), got 3"),
        (lambda p: p(_x(), z=_x()), ArgumentCountError, "got a keyword 'z'"),
        (lambda p: p(_x(), x=_x()), ArgumentCountError, "got 'x' twice"),
        (lambda p: p(_x(), 1.5), ArgumentTypeError, "argument 'y': expected a tensor, got float 1.5"),
        (lambda p: p(_x(), np.float32(1)), ArgumentTypeError, "argument 'y': expected a tensor, got float32 1.0"),
        (lambda p: p([[1.0]], _x()), ArgumentTypeError, "argument 'x'"),
        (lambda p: p(_x().double(), _x()), DtypeError, "argument 'x': expected f32, got f64 (model.py:1)"),
        (lambda p: p(_x("numpy"), np.ones((2, 3))), DtypeError, "argument 'y': expected f32, got f64"),
        (lambda p: p(_x(), _x("numpy").astype(">f4")), DtypeError, "argument 'y'"),
        (lambda p: p(_x()[0], _x()), RankError, "argument 'x': expected 2 dimensions, f32[2, 3], got 1, f32[3]"),
        (lambda p: p(_x(), torch.ones(2, 4)), ShapeError, "argument 'y', dimension 1: expected 3, got 4 (model.py:1)"),
        (
            lambda p: p(_x(), torch.ones(2, 3, device="meta")),
            DeviceError,
            "argument 'y': expected device cpu, got meta",
        ),
        (lambda p: p(_x().to_sparse(), _x()), LayoutError, "argument 'x': expected a strided tensor"),
    ],
)
def test_arguments_that_do_not_fit(call: Callable[[Program], Any], error: type[HotdeskError], message: str) -> None:
    fake = _add()
    with pytest.raises(error, match=re.escape(message)):
        call(Program(fake))
    assert not fake.runs
    assert not fake.bound


def test_a_number_is_no_0d_tensor() -> None:
    program = Program(Fake((TensorSpec("scale", "f32", ()),), (TensorSpec("r", "f32", ()),), lambda s: (s * 2,)))
    with pytest.raises(
        ArgumentTypeError, match=r"argument 'scale': expected a tensor, got int 2. Pass a number as a 0-d"
    ):
        program(2)
    assert program(torch.tensor(2.0)) == 4
    assert program(np.array(2.0, np.float32)) == 4


def test_a_front_end_that_flattens_to_another_count() -> None:
    class Loose:
        def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
            return args

        def unflatten(self, results: list[Any], symbols: dict[str, int]) -> Any:
            return results

    program = Program(_add(), calling=Loose())
    program(_x(), _x())
    with pytest.raises(ArgumentCountError, match=r"expected 2 \(x, y\), got 3"):
        program(_x(), _x(), _x())


@pytest.mark.parametrize(
    ("rows", "other", "message"),
    [
        (2, 5, "argument 'y', dimension 0: expected 2*s0 = 4 as in argument 'x', dimension 0, got 5"),
        (9, 18, "argument 'x', dimension 0: expected 0 <= s0 <= 8, got s0 = 9"),
    ],
)
def test_symbols_that_do_not_fit(rows: int, other: int, message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        Program(_rows())(torch.ones(rows, 3), torch.ones(other, 3))


def test_an_expression_alone_gives_its_symbol() -> None:
    fake = Fake((TensorSpec("x", "f32", (2 * S0,)),), (TensorSpec("r", "f32", (S0,)),), lambda x: (x[::2],))
    program = Program(fake)
    assert program(torch.arange(6.0)).tolist() == [0, 2, 4]
    with pytest.raises(ShapeError, match=r"expected 2\*s0 for some size s0, got 7"):
        program(torch.arange(7.0))


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
    fake = _add()
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
    fake = _add()
    x, y = _x(), _x("numpy")
    Program(fake)(x, y)
    assert fake.runs[0][0] == [x.data_ptr(), y.ctypes.data]


def test_an_unaligned_argument_is_copied() -> None:
    raw = np.frombuffer(bytes(range(25)), np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert np.array_equal(Program(_add())(raw, raw), raw + raw)


def test_read_only_arguments_are_fine() -> None:
    x = _x("numpy")
    x.flags.writeable = False
    assert np.array_equal(Program(_add())(x, x), x + x)


def test_the_copy_lives_while_the_program_runs() -> None:
    def churn(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
        gc.collect()
        taken = [np.full((2, 3), -1, np.float32) for _ in range(100)]
        return (x + y + 0 * taken[0],)

    x = torch.arange(6.0).reshape(3, 2).T
    assert torch.equal(Program(Fake((X, Y), (SUM,), churn))(x, x), x + x)


# out=


@pytest.mark.parametrize("make", ["torch", "numpy"])
def test_out_is_written_and_returned(make: str) -> None:
    fake = _add()
    x = _x(make)
    out = torch.empty(2, 3) if make == "torch" else np.empty((2, 3), np.float32)
    assert Program(fake)(x, x, out=out) is out
    assert np.array_equal(np.asarray(out), np.asarray(x) * 2)
    assert fake.runs[0][1] == [out.data_ptr() if isinstance(out, torch.Tensor) else out.ctypes.data]


@pytest.mark.parametrize("wrap", [tuple, list])
def test_out_for_several_results(wrap: Callable[..., Any]) -> None:
    outs = wrap([torch.empty(4, 3), np.empty(6, np.float32)])
    total, flat = Program(_rows())(torch.ones(2, 3), torch.ones(4, 3), out=outs)
    assert total is outs[0]
    assert flat is outs[1]
    assert total.tolist() == [[2.0] * 3] * 4


def test_out_of_one_in_a_tuple() -> None:
    out = torch.empty(2, 3)
    assert Program(_add())(_x(), _x(), out=(out,)) is out


def test_out_of_zero_size_shares_with_nothing() -> None:
    x = torch.ones(0, 3)
    total, _ = Program(_rows())(x, x, out=(x, torch.ones(0)))
    assert total is x


def test_autograd_knows_that_out_was_written() -> None:
    out, scale = torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)
    product = (scale * out).sum()
    Program(_add())(_x(), _x(), out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def _frozen() -> np.ndarray:
    array = np.zeros((2, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (lambda: (torch.empty(2, 3),) * 2, ArgumentCountError, "out=: expected 1 outputs, got 2"),
        (lambda: (), ArgumentCountError, "out=: expected 1 outputs, got 0"),
        (lambda: 3, ArgumentTypeError, "output 0"),
        (
            lambda: torch.empty(2, 3, requires_grad=True),
            ArgumentTypeError,
            "output 0: expected a tensor without requires",
        ),
        (lambda: torch.empty(2, 3, dtype=torch.float64), DtypeError, "output 0: expected f32, got f64 (model.py:4)"),
        (lambda: torch.empty(6), RankError, "output 0: expected 2 dimensions, f32[2, 3], got 1, f32[6]"),
        (lambda: torch.empty(3, 2), ShapeError, "output 0: expected f32[2, 3], got f32[3, 2] (model.py:4)"),
        (lambda: torch.empty(2, 3, device="meta"), DeviceError, "output 0: expected device cpu, got meta"),
        (lambda: torch.empty(3, 2).T, LayoutError, "output 0: expected contiguous, aligned memory, got strides (1, 2)"),
        (lambda: torch.empty(1, 3).expand(2, 3), LayoutError, "output 0: expected writable memory"),
        (_frozen, LayoutError, "output 0: expected writable memory"),
    ],
)
def test_outputs_that_do_not_fit(out: Callable[[], Any], error: type[HotdeskError], message: str) -> None:
    fake = _add()
    with pytest.raises(error, match=re.escape(message)):
        Program(fake)(_x(), _x(), out=out())
    assert not fake.runs


def test_out_must_not_be_an_argument() -> None:
    fake = _add()
    program, x, y = Program(fake), _x(), _x()
    for _ in range(2):  # the second call takes the fast path
        with pytest.raises(OutputOverlapError, match="got 24 bytes shared with argument 'y'"):
            program(x, y, out=y)
        program(x, x)
    assert len(fake.runs) == 2


@pytest.mark.parametrize("make", ["torch", "numpy"])
def test_out_must_not_overlap_a_part_of_an_argument(make: str) -> None:
    base: Any = torch.zeros(12) if make == "torch" else np.zeros(12, np.float32)
    with pytest.raises(OutputOverlapError, match="got 8 bytes shared with argument 'x'"):
        Program(_add())(base[:6].reshape(2, 3), _x(), out=base[4:10].reshape(2, 3))


def test_out_must_not_lie_between_the_elements_of_an_argument() -> None:
    base = torch.zeros(4, 6)
    with pytest.raises(OutputOverlapError, match="argument 'x'"):
        Program(_add())(base[::3, ::2], _x(), out=base[1].reshape(2, 3))


def test_out_next_to_an_argument_is_fine() -> None:
    base = torch.zeros(12)
    Program(_add())(base[:6].reshape(2, 3), _x(), out=base[6:].reshape(2, 3))


def test_outs_must_not_overlap_each_other() -> None:
    base = torch.zeros(18)
    with pytest.raises(
        OutputOverlapError, match="output 1: expected memory of its own, got 4 bytes shared with output 0"
    ):
        Program(_rows())(torch.ones(2, 3), torch.ones(4, 3), out=(base[:12].reshape(4, 3), base[11:17]))


def test_out_must_not_overlap_a_weight() -> None:
    held = torch.zeros(100)
    start = held.data_ptr()
    weights = [
        WeightRange("whole", start + 40, 200),
        WeightRange("inside", start + 80, 8),
        WeightRange("empty", start, 0),
        WeightRange("last", start + 300, 100),
    ]
    program = Program(_add(), weights=weights)
    for offset, name in [(5, "whole"), (22, "whole"), (59, "whole"), (75, "last"), (70, "last")]:
        with pytest.raises(OutputOverlapError, match=f"shared with weight '{name}'"):
            program(_x(), _x(), out=held[offset : offset + 6].reshape(2, 3))
    for offset in (0, 4, 60, 69):
        program(_x(), _x(), out=held[offset : offset + 6].reshape(2, 3))


# What is remembered


def test_a_plan_is_made_once_for_each_value_of_the_symbols() -> None:
    fake = _rows()
    program = Program(fake)
    for rows in (1, 2, 1, 2):
        program(torch.ones(rows, 3), torch.ones(2 * rows, 3))
        program(np.ones((rows, 3), np.float32), torch.ones(2 * rows, 3))
    assert fake.bound == [{"s0": 1}, {"s0": 2}]


def test_the_plan_used_longest_ago_goes_first() -> None:
    fake = _rows()
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


def test_plans_must_be_kept() -> None:
    with pytest.raises(OptionError, match="plans: expected at least 1, got 0"):
        Program(_add(), plans=0)


def test_neither_arguments_nor_results_are_held() -> None:
    program, x = Program(_add()), _x()
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
        program(_x(), _x())
    fails.append(False)
    assert torch.equal(program(_x(), _x()), _x() + _x())


def test_threads_run_one_after_another() -> None:
    inside: list[int] = []
    most: list[int] = []

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)
        inside.pop()
        return np.concatenate([x, x]) + y, x.reshape(-1)

    fake = _rows()
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
    assert max(most) == 1
    assert len(fake.runs) == 30


# What it says about itself


def test_memory_and_decisions_are_numbers() -> None:
    program = Program(_rows())
    arguments = torch.ones(2, 3), torch.ones(4, 3)
    memory = program.memory(*arguments)
    assert (memory.inputs, memory.outputs, memory.copies) == (72, 72, 0)
    assert [(found.subject, found.bytes) for found in program.decisions(*arguments)] == [("tmp", 24)]


def test_inspecting_needs_no_arguments_without_dynamic_sizes() -> None:
    fake = _add()
    program = Program(fake)
    assert program.memory() == program.memory(_x(), _x())
    assert program.report() == program.report(_x(), _x())
    assert not fake.runs
    with pytest.raises(ArgumentCountError):
        Program(_rows()).memory()


def test_report(golden: Callable[[str, str], None]) -> None:
    golden("program_report.txt", Program(_rows(), name="rows").report(torch.ones(2, 3), torch.ones(3, 4).T))


def test_summary_is_the_record_of_the_report() -> None:
    summary = Program(_rows(), name="rows").summary(torch.ones(2, 3), torch.ones(4, 3))
    assert (summary.name, summary.symbols) == ("rows", (("s0", 2),))
    none = ((Outcome.IN_PLACE, 0), (Outcome.COPIED, 0))
    assert summary.outcomes == (*none, (Outcome.ALLOCATED, 1), (Outcome.SHARED, 0))


def test_stages_and_timings() -> None:
    program = Program(_add(), timings={"export": 1.5}, stages={"bufferize": "module {}", "llvm": "module { }"})
    assert program.timings == {"export": 1.5}
    assert program.stages == ("bufferize", "llvm")
    assert program.ir("llvm") == "module { }"
    with pytest.raises(OptionError, match="stage 'bufferized': expected one of bufferize, llvm, got no such stage"):
        program.ir("bufferized")
    with pytest.raises(OptionError, match="compiled to keep its stages"):
        Program(_add()).ir("llvm")


def test_repr_shows_the_types() -> None:
    assert repr(Program(_rows(), name="rows")) == (
        "<Program rows(x: f32[s0, 3], y: f32[2*s0, 3]) -> (f32[2*s0, 3], f32[3*s0])>"
    )
