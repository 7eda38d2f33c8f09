"""What PyTorch raises while it captures a model names no symbol of its own in the error that users see."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

import hotdesk
from hotdesk.errors import DataDependentShapeError, ExportError
from hotdesk.frontends.torch.functions import as_module
from hotdesk.frontends.torch.refusals import refusal, refuse_numbers_beyond_elements


@pytest.mark.parametrize("symbol", ["u0", "zuf0", "zu3", "uf12"])
def test_symbols_of_the_tracer_are_not_shown(symbol: str) -> None:
    raised = RuntimeError(f"Could not guard on data-dependent expression {symbol} (unhinted: {symbol}).")
    error = refusal(raised, "torch.export cannot capture the model", "")
    assert isinstance(error, DataDependentShapeError)
    assert symbol not in str(error)


class _Begun(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("begun", torch.tensor([False]))

    def forward(self, x: Tensor) -> Tensor:
        if not self.begun:
            x = x * 2
        return x + 1


class _Mean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            x = x - self.mean
        return x


def test_a_branch_on_a_buffer_is_told_to_be_one_on_an_attribute() -> None:
    with pytest.raises(DataDependentShapeError, match=r"`begun` is a buffer.* attribute that is a bool"):
        hotdesk.compile(_Begun(), (torch.randn(3),))


def test_a_method_is_not_taken_for_the_buffer_of_its_name() -> None:
    with pytest.raises(DataDependentShapeError) as caught:
        hotdesk.compile(_Mean(), (torch.randn(3),))
    assert "is a buffer" not in str(caught.value)


def _gradient(x: Tensor, weight: Tensor) -> Tensor:
    return torch.func.grad(lambda w: (x @ w).sin().sum())(weight)


def test_gradients_taken_by_functions_are_refused_and_written_down_by_make_fx() -> None:
    given = torch.randn(3, 4), torch.randn(4, 2)
    with pytest.raises(ExportError, match="make_fx"):
        hotdesk.compile(_gradient, given)
    found = hotdesk.compile(make_fx(_gradient)(*given), given)(*given)
    torch.testing.assert_close(found, _gradient(*given))


_REFUSED: dict[str, Any] = {
    "clamp": lambda x, n: torch.clamp(x, -n, n),
    "clamp from below": lambda x, n: torch.clamp_min(x, n),
    "clamp from above, in place": lambda x, n: x.clone().clamp_max_(n),
    "sum": lambda x, n: torch.add(x, x, alpha=n),
    "sum in place": lambda x, n: x.clone().add_(x, alpha=n),
    "difference": lambda x, n: torch.sub(x, x, alpha=n),
    "difference turned": lambda x, n: torch.rsub(x, x, alpha=n),
    "pad": lambda x, n: functional.pad(x, (1, 1), value=n),
    "scatter": lambda x, n: x.scatter(0, torch.tensor([[0]]), n),
    "product added": lambda x, n: torch.addcmul(x, x, x, value=n),
    "hardtanh": lambda x, n: functional.hardtanh(x, 0, n),
    "matrix product": lambda x, n: torch.addmm(x, x, x, beta=n),
    "vector product": lambda x, n: torch.addmv(x[0], x, x[0], alpha=n),
    "batched product": lambda x, n: torch.baddbmm(x[None], x[None], x[None], alpha=n),
    "rows added": lambda x, n: torch.index_add(x, 0, torch.tensor([0, 1]), x, alpha=n),
    "threshold": lambda x, n: functional.threshold(x, 0, n),
    "power": lambda x, n: x**n,
    "masked fill": lambda x, n: x.masked_fill(x > 0, n),
}
_WRAPPED: dict[str, Any] = {
    "sum": lambda x, n: x + n,
    "product": lambda x, n: n * x,
    "comparison": lambda x, n: x == n,
    "rest": lambda x, n: x % n,
}


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("name", _REFUSED)
def test_numbers_beyond_their_type_are_refused_where_eager_does(name: str, dtype: torch.dtype) -> None:
    x = torch.ones(2, 2, dtype=dtype)
    for number in (127, 128, -128, -129, 127.5, -128.5) if dtype == torch.int8 else (255, 256, -255, -256, 255.5):
        refused = False
        try:
            _REFUSED[name](x, number)
        except (RuntimeError, ValueError) as error:
            refused = "without overflow" in str(error)
            if not refused:
                continue  # a bound below 0 of bytes, a negative power
        if name == "rows added" and isinstance(number, float):
            continue  # torch.export refuses it
        exported = torch.export.export(as_module(lambda x, n=number: _REFUSED[name](x, n)), (x,))
        if not refused:
            refuse_numbers_beyond_elements(exported.graph)
            continue
        with pytest.raises(ExportError, match=rf"=-?{abs(number)}(\.0)?`"):
            refuse_numbers_beyond_elements(exported.graph)


@pytest.mark.parametrize("name", _WRAPPED)
def test_numbers_that_eager_wraps_are_taken(name: str) -> None:
    x = torch.ones(2, 2, dtype=torch.int8)

    def wrapped(x: Tensor) -> Tensor:
        return cast(Tensor, _WRAPPED[name](x, 300))

    wrapped(x)
    refuse_numbers_beyond_elements(torch.export.export(as_module(wrapped), (x,)).graph)
