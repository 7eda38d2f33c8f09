"""Memory for results that the caller gives, and when it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DeviceError,
    DtypeError,
    HotdeskError,
    LayoutError,
    OutputOverlapError,
    RankError,
    ShapeError,
)
from hotdesk.runtime.interface import WeightRange
from hotdesk.runtime.program import Program
from tests.unit.runtime.programs import adding, example, stacking


@pytest.mark.parametrize("make", ["torch", "numpy"])
def test_out_is_written_and_returned(make: str) -> None:
    fake = adding()
    x = example(make)
    out = torch.empty(2, 3) if make == "torch" else np.empty((2, 3), np.float32)
    assert Program(fake)(x, x, out=out) is out
    assert np.array_equal(np.asarray(out), np.asarray(x) * 2)
    assert fake.runs[0][1] == [out.data_ptr() if isinstance(out, torch.Tensor) else out.ctypes.data]


@pytest.mark.parametrize("wrap", [tuple, list])
def test_out_for_several_results(wrap: Callable[..., Any]) -> None:
    outs = wrap([torch.empty(4, 3), np.empty(6, np.float32)])
    total, flat = Program(stacking())(torch.ones(2, 3), torch.ones(4, 3), out=outs)
    assert total is outs[0]
    assert flat is outs[1]
    assert total.tolist() == [[2.0] * 3] * 4


def test_out_of_one_in_a_tuple() -> None:
    out = torch.empty(2, 3)
    assert Program(adding())(example(), example(), out=(out,)) is out


def test_out_of_zero_size_shares_with_nothing() -> None:
    x = torch.ones(0, 3)
    total, _ = Program(stacking())(x, x, out=(x, torch.ones(0)))
    assert total is x


def test_autograd_knows_that_out_was_written() -> None:
    out, scale = torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)
    product = (scale * out).sum()
    Program(adding())(example(), example(), out=out)
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
    fake = adding()
    with pytest.raises(error, match=re.escape(message)):
        Program(fake)(example(), example(), out=out())
    assert not fake.runs


def test_out_must_not_be_an_argument() -> None:
    fake = adding()
    program, x, y = Program(fake), example(), example()
    for _ in range(2):  # the second call takes the fast path
        with pytest.raises(OutputOverlapError, match="got 24 bytes shared with argument 'y'"):
            program(x, y, out=y)
        program(x, x)
    assert len(fake.runs) == 2


@pytest.mark.parametrize("make", ["torch", "numpy"])
def test_out_must_not_overlap_a_part_of_an_argument(make: str) -> None:
    base: Any = torch.zeros(12) if make == "torch" else np.zeros(12, np.float32)
    with pytest.raises(OutputOverlapError, match="got 8 bytes shared with argument 'x'"):
        Program(adding())(base[:6].reshape(2, 3), example(), out=base[4:10].reshape(2, 3))


def test_out_must_not_lie_between_the_elements_of_an_argument() -> None:
    base = torch.zeros(4, 6)
    with pytest.raises(OutputOverlapError, match="argument 'x'"):
        Program(adding())(base[::3, ::2], example(), out=base[1].reshape(2, 3))


def test_out_next_to_an_argument_is_fine() -> None:
    base = torch.zeros(12)
    Program(adding())(base[:6].reshape(2, 3), example(), out=base[6:].reshape(2, 3))


def test_outs_must_not_overlap_each_other() -> None:
    base = torch.zeros(18)
    with pytest.raises(
        OutputOverlapError, match="output 1: expected memory of its own, got 4 bytes shared with output 0"
    ):
        Program(stacking())(torch.ones(2, 3), torch.ones(4, 3), out=(base[:12].reshape(4, 3), base[11:17]))


def test_out_must_not_overlap_a_weight() -> None:
    held = torch.zeros(100)
    start = held.data_ptr()
    weights = [
        WeightRange("whole", start + 40, 200),
        WeightRange("inside", start + 80, 8),
        WeightRange("empty", start, 0),
        WeightRange("last", start + 300, 100),
    ]
    program = Program(adding(), weights=weights)
    for offset, name in [(5, "whole"), (22, "whole"), (59, "whole"), (75, "last"), (70, "last")]:
        with pytest.raises(OutputOverlapError, match=f"shared with weight '{name}'"):
            program(example(), example(), out=held[offset : offset + 6].reshape(2, 3))
    for offset in (0, 4, 60, 69):
        program(example(), example(), out=held[offset : offset + 6].reshape(2, 3))
