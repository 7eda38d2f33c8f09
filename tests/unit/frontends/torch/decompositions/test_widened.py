"""Ops on half-precision floats that are computed in a wider type, against eager PyTorch."""

# PyTorch is annotated in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 1e5,
        lambda x: 1e-8 * x,
        lambda x: x / 1e5,
        lambda x: x * 0.3337,
        lambda x: x / 3.3,
        lambda x: x / 100001,
        lambda x: torch.ops.aten.mul.Scalar(x, 0.1),
        lambda x: x.clone().mul_(0.1),
        lambda x: x * torch.tensor(1e5),
        lambda x: x / torch.tensor(3.3, dtype=torch.float64),
        lambda x: x * torch.tensor([100001]),
        lambda x: torch.tensor(1e5) * x,
        lambda x: x + torch.tensor(1e5),
        lambda x: torch.div(x, torch.tensor(3.14159265), rounding_mode="trunc"),
        lambda x: torch.div(x, 3.14159265, rounding_mode="trunc"),
        lambda x: x // torch.tensor(3.14159265),
        lambda x: x // 3.14159265,
    ],
)
def test_numbers_that_half_precision_does_not_hold(function: Callable[[Tensor], Any], dtype: torch.dtype) -> None:
    x = torch.tensor([[1e-3, -2.0, 60000.0], [0.0, torch.inf, torch.nan]]).to(dtype)
    x = torch.cat([x, torch.linspace(-9, 9, 300).to(dtype).view(-1, 3), torch.full((1, 3), 3.140625, dtype=dtype)])
    torch.testing.assert_close(hotdesk.compile(function, (x,))(x), function(x), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("corners", [False, True])
def test_images_of_bytes(mode: str, corners: bool) -> None:
    def resized(x: Tensor) -> Tensor:
        return torch.nn.functional.interpolate(x, size=(9, 13), mode=mode, align_corners=corners)

    for shape in ((1, 3, 20, 31), (2, 5, 5, 6)):
        image = torch.randint(0, 256, shape, dtype=torch.uint8)
        assert hotdesk.compile(resized, (image,))(image).equal(resized(image))


@pytest.mark.parametrize("name", ["upsample_bilinear2d", "upsample_bicubic2d", "upsample_nearest2d"])
def test_images_of_bytes_by_ops(name: str) -> None:
    """PyTorch takes these overloads apart as soon as autograd sees them, or nobody does and torch-mlir takes other pixels."""
    op = getattr(torch.ops.aten, name).default
    corners = () if "nearest" in name else (False,)
    image = torch.randint(0, 256, (1, 3, 20, 31), dtype=torch.uint8)
    for factors in ((), (1.5, 1.3)):
        for x in (image, image.float()):

            def resized(x: Tensor, factors: tuple[float, ...] = factors) -> Tensor:
                return op(x, (29, 13), *corners, *factors)

            tolerance = 0 if "nearest" in name or x is image else 1e-3
            torch.testing.assert_close(hotdesk.compile(resized, (x,))(x), resized(x), rtol=0, atol=tolerance)
    torch.testing.assert_close(torch.compile(resized, backend="hotdesk")(image), resized(image), rtol=0, atol=0)
