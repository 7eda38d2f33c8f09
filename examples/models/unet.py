"""U-Net: the skip connections hold large activations across the whole net, which makes its peak hard to lower."""

from __future__ import annotations

import torch
from torch import nn

from .norms import settle_batch_norms
from .spec import ModelSpec, normal


def _double_conv(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class UNet(nn.Module):
    """Four levels down, a bottom, four levels up; height and width must be multiples of 16."""

    def __init__(self, channels: int = 3, classes: int = 2, base: int = 32, levels: int = 4) -> None:
        super().__init__()
        widths = [base << level for level in range(levels + 1)]
        self.down = nn.ModuleList(_double_conv(a, b) for a, b in zip([channels, *widths], widths[:-1], strict=False))
        self.bottom = _double_conv(widths[-2], widths[-1])
        self.pool = nn.MaxPool2d(2)
        ups = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.widen = nn.ModuleList(nn.ConvTranspose2d(deep, shallow, 2, stride=2) for deep, shallow in ups)
        self.up = nn.ModuleList(_double_conv(2 * shallow, shallow) for _, shallow in ups)
        self.head = nn.Conv2d(base, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottom(x)
        for widen, block in zip(self.widen, self.up, strict=True):
            x = block(torch.cat([skips.pop(), widen(x)], dim=1))
        return self.head(x)


def _unet() -> nn.Module:
    return settle_batch_norms(UNet(), torch.randn(1, 3, 256, 256))


SPECS = (
    ModelSpec(
        name="unet",
        title="U-Net, 256 x 256, 32 to 512 channels",
        factory=_unet,
        sample=normal(3, 256, 256),
    ),
)
