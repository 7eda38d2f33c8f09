"""What a graph is expected to call is what its program calls."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hotdesk.frontends.torch.likely_functions import likely_functions

_PRODUCT, _WINOGRAD, _CONVOLUTION = "hotdesk_product_f32", "hotdesk_winograd_f32", "hotdesk_convolution_f32"


@pytest.mark.parametrize(
    ("model", "shape", "expected"),
    [
        (nn.Linear(8, 4), (2, 8), {_PRODUCT}),
        (nn.Conv2d(3, 24, 3), (1, 3, 9, 9), {_PRODUCT, _CONVOLUTION}),
        (nn.Conv2d(16, 24, 3), (1, 16, 9, 9), {_PRODUCT, _CONVOLUTION, _WINOGRAD}),
        (nn.Conv2d(16, 24, 1), (1, 16, 9, 9), {_PRODUCT}),
        (nn.Conv1d(3, 4, 5), (1, 3, 20), {_PRODUCT, _CONVOLUTION}),
        (nn.ReLU(), (2, 8), set[str]()),
    ],
)
def test_products_and_convolutions(model: nn.Module, shape: tuple[int, ...], expected: set[str]) -> None:
    found = likely_functions(torch.export.export(model, (torch.randn(shape),)).graph)
    assert {name for name in found if name != "hotdesk_parts"} == expected
    assert ("hotdesk_parts" in found) is bool(expected)
    assert len(found) == len(set(found))


def test_sums_of_16_bit_floats_are_products_in_single_precision() -> None:
    model = nn.Conv2d(16, 24, 3, dtype=torch.bfloat16)
    found = likely_functions(torch.export.export(model, (torch.randn(1, 16, 9, 9, dtype=torch.bfloat16),)).graph)
    assert found == (_PRODUCT, "hotdesk_winograd_bf16", "hotdesk_convolution_bf16", "hotdesk_parts")
