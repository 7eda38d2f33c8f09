"""Models that Hotdesk does not compile, and how it says so: a class, a code, what was expected and what came, the Python line."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.errors import (
    ArgumentTypeError,
    DataDependentShapeError,
    DeviceError,
    ExportError,
    FrontendError,
    HotdeskError,
    UnsupportedMutationError,
    UnsupportedOpError,
)
from tests.e2e.checking import Call, random
from tests.e2e.refusing import Scaled, line_of, well_formed


class Svd(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        return torch.linalg.svd(y).S  # here


class Fourier(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.fft(x).real  # here


class Inverse(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.inv(x)  # here


class Complex(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.complex(x, x) * 2)  # here


class Random(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.poisson(x)  # here


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # here
            return x + 1
        return x - 1


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("this model has no forward")  # here


class Mismatch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(7, 2)  # here


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(4))
        self.register_buffer("again", self.calls)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)  # here
        return x * self.again


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (Svd, UnsupportedOpError),
        (Fourier, UnsupportedOpError),
        (Inverse, UnsupportedOpError),
        (Complex, UnsupportedOpError),
        (Random, UnsupportedOpError),
        (Branch, DataDependentShapeError),
        (Raises, ExportError),
        (Mismatch, ExportError),
        (Tied, UnsupportedMutationError),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_models_that_do_not_compile(model: type[nn.Module], error: type[HotdeskError]) -> None:
    with pytest.raises(error) as caught:
        hotdesk.compile(model(), (random(4, 4),), options=hotdesk.Options(foreign=False))
    well_formed(caught.value)
    assert isinstance(caught.value, FrontendError)
    assert caught.value.where == line_of(model.forward)


def test_an_unsupported_op_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match=r"aten\._linalg_svd"):
        hotdesk.compile(Svd(), (random(4, 4),), options=hotdesk.Options(foreign=False))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fn, torch.uint16], ids=str)
def test_element_types_without_a_lowering(dtype: torch.dtype) -> None:
    with pytest.raises(UnsupportedOpError, match=str(dtype)) as caught:
        hotdesk.compile(
            Call(lambda x: x.view(2, 2)), (torch.zeros(4).to(dtype),), options=hotdesk.Options(foreign=False)
        )
    well_formed(caught.value)


def test_weights_on_another_device() -> None:
    with pytest.raises(HotdeskError) as caught:
        hotdesk.compile(nn.Linear(3, 2, device="meta"), (random(2, 3),))
    well_formed(caught.value)


def test_weights_on_the_meta_device() -> None:
    with pytest.raises(DeviceError, match=r"weight.*meta") as caught:
        hotdesk.compile(nn.Linear(3, 2, device="meta"), (torch.zeros(2, 3, device="meta"),))
    well_formed(caught.value)


def test_numbers_that_vary() -> None:
    model = Scaled()
    with pytest.raises(UnsupportedOpError, match="`n`") as caught:
        hotdesk.compile(model, (random(3), 4), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    well_formed(caught.value)


@pytest.mark.parametrize("model", [None, 3, nn.Linear], ids=["none", "number", "class"])
def test_what_is_no_model(model: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'model'") as caught:
        hotdesk.compile(model, (random(3),))
    well_formed(caught.value)


def test_example_arguments_must_be_a_tuple() -> None:
    with pytest.raises(ArgumentTypeError, match=r"\(x,\)") as caught:
        hotdesk.compile(nn.ReLU(), random(3))  # pyright: ignore[reportArgumentType]
    well_formed(caught.value)


@pytest.mark.parametrize(
    ("args", "told"),
    [((), "0 arguments: missing a required argument"), ((random(3), random(3)), "2 arguments: too many positional")],
)
def test_another_number_of_example_arguments(args: tuple[Any, ...], told: str) -> None:
    with pytest.raises(ExportError, match=rf"expected those of ReLU.forward: input.*, got {told}") as caught:
        hotdesk.compile(nn.ReLU(), args)
    well_formed(caught.value)


def test_the_constraint_that_is_violated_is_told() -> None:
    with pytest.raises(ExportError, match=r"Not all values of n") as caught:
        hotdesk.compile(Call(lambda x: x[:-1] * 2), (random(4, 3),), dynamic_shapes=(({0: Dim("n", min=2)},),))
    well_formed(caught.value)


def test_dynamic_shapes_that_do_not_fit() -> None:
    with pytest.raises(ExportError) as caught:
        hotdesk.compile(nn.ReLU(), (random(3),), dynamic_shapes={"y": {0: Dim("n")}})
    well_formed(caught.value)
    with pytest.raises(ExportError) as caught:
        hotdesk.compile(Call(lambda x: x + torch.ones(3)), (random(3),), dynamic_shapes=(({0: Dim("n", min=2)},),))
    well_formed(caught.value)
