"""Convolutions by Winograd's filtering in whole programs: results, memory, and programs without it; workspaces beside loops."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.explain import Reason


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(16, 16, 3, padding=1, bias=False).eval().requires_grad_(False)


def image(rows: int = 40) -> torch.Tensor:
    return torch.randn(1, 16, rows, 40, generator=torch.Generator().manual_seed(1))


def close(actual: torch.Tensor, x: torch.Tensor) -> None:
    exact = model().double()(x.double())
    torch.testing.assert_close(actual.double(), exact, rtol=0, atol=2e-6 * float(exact.abs().max()))


@pytest.mark.parametrize("winograd", [True, False])
def test_no_scratch_memory_is_in_the_arena(winograd: bool) -> None:
    x = image()
    program = hotdesk.compile(model(), (x,), options=hotdesk.Options(winograd=winograd, keep_ir=True))
    assert program.memory().arena == 0
    assert ("winograd = false" in program.ir("hotdesk-one-shot-bufferize")) is not winograd
    close(program(x), x)
    assert hotdesk.scratch_bytes() >= 36 * 4 * (16 * 16 + 2 * 16 * 16) * winograd
    assert program.check(x).faults == ()


@pytest.mark.parametrize("rows", [1, 3, 8, 17, 40, 90])
def test_sizes_that_vary(rows: int) -> None:
    """What is small at run time is computed from all products, in the same program."""
    dim = torch.export.Dim("rows", min=1, max=200)
    program = hotdesk.compile(model(), (image(),), dynamic_shapes=({2: dim},))
    close(program(image(rows)), image(rows))


def test_kept_programs_know_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    x = image()
    with_it, without, *again = (
        hotdesk.compile(model(), (x,), options=hotdesk.Options(winograd=winograd))(x)
        for winograd in (True, False, True, False)
    )
    assert not torch.equal(with_it, without)
    for made, wanted in zip(again, (with_it, without), strict=True):
        torch.testing.assert_close(made, wanted, rtol=0, atol=0)


def test_beside_a_loop() -> None:
    """Scratch memory is bytes, which the kernel takes as elements: of a function with control flow, the types say so."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.steps = nn.ConvTranspose2d(32, 32, 2, stride=2), nn.LSTM(8, 8, batch_first=True)

        def forward(self, x: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.conv(torch.relu(self.conv(x))), self.steps(s)[0]

    torch.manual_seed(0)
    net, x, s = Net().eval(), torch.randn(1, 32, 16, 16), torch.randn(2, 12, 8)
    program = hotdesk.compile(net, (x, s))
    assert sum(decision.reason is Reason.WORKSPACE for decision in program.decisions()) == 2
    for made, wanted in zip(program(x, s), net(x, s), strict=True):
        torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-4)
    assert program.check(x, s).faults == ()


def test_volumes_are_products() -> None:
    """Padded, strided and dilated; transposed ones, a product for all taps; in the order that threads share out planes."""
    torch.manual_seed(0)
    layers = (
        nn.Conv3d(8, 20, 3, padding=1),
        nn.Conv3d(20, 12, (3, 1, 1), stride=(2, 1, 1), padding=(1, 0, 0)),
        nn.Conv3d(12, 16, (1, 3, 3), dilation=2, padding=(0, 2, 2)),
        nn.ConvTranspose3d(16, 8, 2, stride=2),
    )
    net, x = nn.Sequential(*layers).eval().requires_grad_(False), torch.randn(2, 8, 6, 14, 15)
    program = hotdesk.compile(net, (x,), options=hotdesk.Options(keep_ir=True))
    assert program.ir("kernels").count("call @hotdesk_convolution_f32") == 3
    assert program.ir("kernels").count("call @hotdesk_product_f32") == 1
    before = hotdesk.get_num_threads()
    try:
        for threads in (1, 2):
            hotdesk.set_num_threads(threads)
            torch.testing.assert_close(program(x), net(x), rtol=1e-4, atol=1e-4)
    finally:
        hotdesk.set_num_threads(before)


class Biased(nn.Module):
    """Convolutions with a bias: read by what computes element by element, by two, and as a result."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.last = nn.Conv2d(8, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.relu(self.first(x))
        return self.last(y + self.second(y))


def test_a_bias_is_added_by_what_reads_the_sums() -> None:
    """Not in a pass of its own in front of them: the only one left is that of the last, which nothing reads."""
    module = Biased().eval().requires_grad_(False)
    x = torch.randn(1, 3, 9, 11, generator=torch.Generator().manual_seed(1))
    program = hotdesk.compile(module, (x,))
    kernels = {f"{each.op} {each.operands}": each.calls for each in program.profile(x).kernels}
    assert sum(calls for kernel, calls in kernels.items() if kernel.startswith("hotdesk.conv")) == 3
    begun_with = [
        kernel for kernel in kernels if kernel.startswith(("linalg.generic f32[8] ", "linalg.generic f32[4] "))
    ]
    assert begun_with == ["linalg.generic f32[4] -> f32[1,4,9,11]"]
    assert sum(kernels.values()) == 6, kernels
    torch.testing.assert_close(program(x), module(x), rtol=1e-5, atol=1e-6)
    assert program.check(x).faults == ()
