"""Gradients of convolutions and of softmax, taken apart, are eager PyTorch's."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.frontends.torch.decompositions.gradients import GRADIENTS
from tests.e2e.checking import Call

aten: Any = torch.ops.aten
apart: Any = GRADIENTS[aten.convolution_backward.default]

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "padded": ((2, 4, 9, 8), (6, 4, 3, 3), {"padding": [1, 1]}),
    "pointwise": ((2, 4, 9, 8), (6, 4, 1, 1), {}),
    "strided": ((2, 4, 9, 8), (6, 4, 1, 1), {"stride": [2, 2]}),
    "dilated": ((2, 4, 11, 9), (6, 4, 3, 2), {"stride": [2, 1], "padding": [1, 0], "dilation": [2, 3]}),
    "one-number": ((2, 4, 9, 8), (6, 4, 3, 3), {"stride": [2], "padding": [1], "dilation": [1]}),
    "groups": ((2, 4, 6, 6), (6, 2, 3, 3), {"groups": 2}),
    "depthwise": ((2, 4, 7, 7), (4, 1, 3, 3), {"groups": 4, "stride": [2, 2], "padding": [1, 1]}),
    "depthwise-wider": ((2, 4, 7, 7), (8, 1, 3, 3), {"groups": 4}),
    "transposed": ((2, 4, 5, 5), (4, 6, 2, 2), {"transposed": True, "stride": [2, 2]}),
    "transposed-groups": (
        (2, 4, 5, 5),
        (4, 3, 3, 3),
        {"transposed": True, "stride": [2, 2], "padding": [1, 1], "output_padding": [1, 1], "groups": 2},
    ),
    "transposed-padded-by-a-stride": (
        (2, 2, 4, 3),
        (2, 3, 2, 3),
        {"transposed": True, "stride": [1, 2], "dilation": [3, 1], "output_padding": [2, 1]},
    ),
    "1d": ((3, 4, 9), (6, 4, 3), {"padding": [1]}),
    "3d": ((2, 2, 4, 5, 4), (3, 2, 2, 2, 2), {"stride": [2, 1, 2]}),
}


def arguments(image: torch.Tensor, more: dict[str, Any]) -> list[Any]:
    deep = image.dim() - 2
    return [
        more.get("stride", [1] * deep),
        more.get("padding", [0] * deep),
        more.get("dilation", [1] * deep),
        more.get("transposed", False),
        more.get("output_padding", [0] * deep),
        more.get("groups", 1),
    ]


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_eager_pytorch(name: str) -> None:
    torch.manual_seed(0)
    size, window, more = CASES[name]
    image, filters = torch.randn(size, dtype=torch.float64), torch.randn(window, dtype=torch.float64)
    rest = arguments(image, more)
    gradient = torch.randn_like(aten.convolution(image, filters, None, *rest))
    for mask in itertools.product([False, True], repeat=3):
        found = apart(gradient, image, filters, [gradient.shape[1]], *rest, list(mask))
        expected = aten.convolution_backward(gradient, image, filters, [gradient.shape[1]], *rest, list(mask))
        for wanted, one, other in zip(mask, found, expected, strict=True):
            assert (one is not None) is wanted
            if wanted:
                torch.testing.assert_close(one, other)


def test_images_without_elements_are_left_to_others() -> None:
    image, filters = torch.zeros(0, 4, 5, 5), torch.zeros(6, 4, 3, 3)
    rest = arguments(image, {})
    assert apart(torch.zeros(0, 6, 3, 3), image, filters, [6], *rest, [True] * 3) is NotImplemented


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_the_gradient_of_softmax_where_products_are_infinite(dtype: torch.dtype) -> None:
    gradient = torch.tensor([[2, 2, 2], [1e30, 3e38, 3], [1, 2, 3]], dtype=dtype)
    output = torch.tensor([[torch.inf, 0.1, 0.3], [1e30, 1e30, 0.3], [0.2, 0.3, 0.5]], dtype=dtype)

    def backward(gradient: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        return aten._softmax_backward_data(gradient, output, -1, dtype)

    program = hotdesk.compile(Call(backward), (gradient, output))
    torch.testing.assert_close(program(gradient, output), backward(gradient, output))
