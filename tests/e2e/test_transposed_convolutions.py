"""Transposed convolutions against PyTorch: padded images, padding that cuts more than a window reaches, rows behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import hotdesk


class _Padded(torch.nn.Module):
    """A transposed convolution of a padded image."""

    def __init__(self, pad: list[int], window: tuple[int, ...], bias: bool, **options: Any) -> None:
        super().__init__()
        self.pad, self.options = pad, options
        self.convolve: Any = getattr(F, f"conv_transpose{len(window)}d")
        self.weight = torch.nn.Parameter(torch.randn(4, 3, *window))
        self.bias = torch.nn.Parameter(torch.randn(3 * options.get("groups", 1))) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.convolve(F.pad(x, self.pad) if self.pad else x, self.weight, self.bias, **self.options)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("pad", "window", "options"),
    [
        ([2, 1], (3,), {"stride": 4}),
        ([2, 1], (1,), {"stride": 4, "padding": 1}),
        ([2, 1, 3, 3], (1, 3), {"stride": (4, 2), "padding": (1, 2), "output_padding": (0, 1), "dilation": (3, 4)}),
        ([], (1,), {"stride": 3, "padding": 1, "output_padding": 2}),
        ([], (3,), {"stride": 3, "padding": 3, "output_padding": 2}),
        ([], (2, 1), {"stride": (2, 3), "padding": (0, 1), "output_padding": (1, 2)}),
        ([1, 0, 2, 3], (2, 1), {"stride": 3, "padding": 1, "output_padding": 2, "groups": 2}),
    ],
    ids=str,
)
def test_as_in_pytorch(
    pad: list[int], window: tuple[int, ...], options: dict[str, Any], bias: bool, dynamic: bool
) -> None:
    torch.manual_seed(0)
    model = _Padded(pad, window, bias, **options)
    x = torch.randn(2, 4, *[5, 7][-len(window) :])
    shapes = ({0: torch.export.Dim("batch", max=9)},) if dynamic else None
    program = hotdesk.compile(model, (x,), dynamic_shapes=shapes)
    for given in (x, torch.randn(3, *x.shape[1:])) if dynamic else (x,):
        with torch.no_grad():
            torch.testing.assert_close(program(given), model(given), rtol=1e-5, atol=1e-5)
