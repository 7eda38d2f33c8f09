"""Arguments that do not fit a program are refused before it runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensorMode

from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DeviceError,
    DtypeError,
    HotdeskError,
    LayoutError,
    RankError,
    ShapeError,
)
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.program import Program
from tests.unit.runtime.fake import Fake
from tests.unit.runtime.programs import S0, adding, example, stacking


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p(example()), ArgumentCountError, "arguments: expected 2 (x, y), got 1, without y"),
        (lambda p: p(), ArgumentCountError, "got 0, without x, y"),
        (lambda p: p(example(), example(), example()), ArgumentCountError, "expected 2 (x, y), got 3"),
        (lambda p: p(example(), z=example()), ArgumentCountError, "got a keyword 'z'"),
        (lambda p: p(example(), x=example()), ArgumentCountError, "got 'x' twice"),
        (lambda p: p(example(), 1.5), ArgumentTypeError, "argument 'y': expected a tensor, got float 1.5"),
        (lambda p: p(example(), np.float32(1)), ArgumentTypeError, "argument 'y': expected a tensor, got float32 1.0"),
        (lambda p: p([[1.0]], example()), ArgumentTypeError, "argument 'x'"),
        (lambda p: p(example().double(), example()), DtypeError, "argument 'x': expected f32, got f64 (model.py:1)"),
        (lambda p: p(example("numpy"), np.ones((2, 3))), DtypeError, "argument 'y': expected f32, got f64"),
        (lambda p: p(example(), example("numpy").astype(">f4")), DtypeError, "argument 'y'"),
        (
            lambda p: p(example()[0], example()),
            RankError,
            "argument 'x': expected 2 dimensions, f32[2, 3], got 1, f32[3]",
        ),
        (
            lambda p: p(example(), torch.ones(2, 4)),
            ShapeError,
            "argument 'y', dimension 1: expected 3, got 4 (model.py:1)",
        ),
        (
            lambda p: p(example(), torch.ones(2, 3, device="meta")),
            DeviceError,
            "argument 'y': expected device cpu, got meta",
        ),
        (lambda p: p(example().to_sparse(), example()), LayoutError, "argument 'x': expected a strided tensor"),
    ],
)
def test_arguments_that_do_not_fit(call: Callable[[Program], Any], error: type[HotdeskError], message: str) -> None:
    fake = adding()
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

        def unflatten(self, results: list[Any], symbols: dict[str, int], leaves: list[Any]) -> Any:
            return results

    program = Program(adding(), calling=Loose())
    program(example(), example())
    with pytest.raises(ArgumentCountError, match=r"expected 2 \(x, y\), got 3"):
        program(example(), example(), example())


@pytest.mark.parametrize(
    ("rows", "other", "message"),
    [
        (2, 5, "argument 'y', dimension 0: expected 2*s0 = 4 as in argument 'x', dimension 0, got 5"),
        (9, 18, "argument 'x', dimension 0: expected 0 <= s0 <= 8, got s0 = 9"),
    ],
)
def test_symbols_that_do_not_fit(rows: int, other: int, message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        Program(stacking())(torch.ones(rows, 3), torch.ones(other, 3))


def test_an_expression_alone_gives_its_symbol() -> None:
    fake = Fake((TensorSpec("x", "f32", (2 * S0,)),), (TensorSpec("r", "f32", (S0,)),), lambda x: (x[::2],))
    program = Program(fake)
    assert program(torch.arange(6.0)).tolist() == [0, 2, 4]
    with pytest.raises(ShapeError, match=r"expected 2\*s0 for some size s0, got 7"):
        program(torch.arange(7.0))


def _under(mode: Callable[[], Any]) -> Callable[[Callable[[], torch.Tensor]], Any]:
    def called(call: Callable[[], torch.Tensor]) -> Any:
        with mode():
            return call()

    return called


WITHOUT_MEMORY: dict[str, Callable[[Callable[[], torch.Tensor]], Any]] = {
    "fake tensors": _under(FakeTensorMode),
    "functional tensors": _under(FunctionalTensorMode),
    "functionalize": lambda call: torch.func.functionalize(lambda x: call() + x)(example()),
    "grad": lambda call: torch.func.grad(lambda x: (call() * x).sum())(example()),
}


@pytest.mark.parametrize("is_donating", [False, True])
@pytest.mark.parametrize("where", WITHOUT_MEMORY)
def test_where_torch_makes_tensors_without_memory_nothing_runs(where: str, is_donating: bool) -> None:
    fake = adding()
    if is_donating:
        fake.inputs = tuple(replace(spec, donated=True) for spec in fake.inputs)
    program, x, y = Program(fake), example(), example()
    with pytest.raises(ArgumentTypeError, match="a result: expected a new tensor with memory of its own"):
        WITHOUT_MEMORY[where](lambda: program(x, y))
    assert not fake.runs
    assert torch.equal(program(x, y), x + y)
