"""Profiles: what each kernel does is counted exactly; how long it takes is only as plausible as time is."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.report.profile import KernelProfile, Profile, Roof, render_profile


def _kernels(model: Any, *args: torch.Tensor, **options: Any) -> tuple[KernelProfile, ...]:
    return hotdesk.compile(model.eval(), args, **options).profile(*args).kernels


def _of(kernels: tuple[KernelProfile, ...], op: str) -> KernelProfile:
    (found,) = (kernel for kernel in kernels if kernel.op == op)
    return found


def test_a_linear_layer() -> None:
    kernel = _of(_kernels(nn.Linear(64, 32, bias=False), torch.randn(8, 64)), "hotdesk.contract")
    assert kernel.calls == 1
    assert kernel.operations == 2 * 8 * 64 * 32
    assert kernel.read == 4 * (8 * 64 + 64 * 32)
    assert kernel.written == 4 * 8 * 32
    assert "f32[8,64] f32[32,64] -> f32[8,32]" in kernel.operands
    assert kernel.seconds > 0
    assert kernel.locations


def test_a_batch_of_products() -> None:
    class Products(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a @ b

    kernel = _of(_kernels(Products(), torch.randn(3, 4, 5), torch.randn(3, 5, 6)), "hotdesk.contract")
    assert kernel.operations == 2 * 3 * 4 * 5 * 6
    assert kernel.moved == 4 * 3 * (4 * 5 + 5 * 6 + 4 * 6)


@pytest.mark.parametrize("groups", [1, 4])
def test_a_convolution(groups: int) -> None:
    model = nn.Conv2d(4, 8, 3, padding=1, stride=2, groups=groups, bias=False)
    kernel = _of(_kernels(model, torch.randn(2, 4, 12, 12)), "hotdesk.conv")
    assert kernel.operations == 2 * (2 * 8 * 6 * 6) * (4 // groups) * 9
    assert kernel.moved == 4 * (2 * 4 * 144 + 8 * (4 // groups) * 9 + 2 * 8 * 36)


def test_a_transposed_convolution_counts_its_elements_alone() -> None:
    model = nn.ConvTranspose2d(4, 6, 2, stride=2, bias=False)
    kernel = _of(_kernels(model, torch.randn(1, 4, 5, 5)), "hotdesk.conv")
    assert kernel.operations == 2 * (4 * 5 * 5) * 6 * 4


def test_a_pooling() -> None:
    kernel = _of(_kernels(nn.MaxPool2d(2), torch.randn(1, 4, 8, 8)), "hotdesk.pool")
    assert kernel.operations == 4 * 4 * 4 * 4
    assert kernel.moved == 4 * (4 * 64 + 4 * 16)


def test_loops_count_what_their_region_computes_and_a_broadcast_value_once() -> None:
    class Loops(nn.Module):
        def forward(self, x: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
            return torch.exp(x + row) * 2.0

    (kernel,) = _kernels(Loops(), torch.randn(16, 32), torch.randn(32))
    assert kernel.operations == 3 * 16 * 32
    assert kernel.read == 4 * (16 * 32 + 32)
    assert kernel.written == 4 * 16 * 32


def test_a_sum_reads_what_it_adds_to() -> None:
    class Sums(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum(1)

    kernels = _kernels(Sums(), torch.randn(16, 32))
    summing = max(kernels, key=lambda kernel: kernel.operations)
    assert summing.operations == 16 * 32
    assert summing.read == 4 * (16 * 32 + 16)
    assert summing.written == 4 * 16


def test_calls_of_one_kernel_are_added_up_and_keep_their_lines() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(48, 48, bias=False), nn.Linear(48, 48, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.first(x).tanh()
            return self.second(x).tanh()

    kernels = _kernels(Twice(), torch.randn(16, 48))
    kernel = _of(kernels, "hotdesk.contract")
    assert kernel.calls == 2
    assert kernel.operations == 2 * 2 * 16 * 48 * 48
    assert sum(each.calls for each in kernels) == 4


def test_sizes_that_vary_are_those_of_the_call() -> None:
    x, batch = torch.randn(4, 64), torch.export.Dim("batch", min=1, max=64)
    program = hotdesk.compile(nn.Linear(64, 32, bias=False).eval(), (x,), dynamic_shapes=({0: batch},))
    for rows in (3, 7):
        profile = program.profile(torch.randn(rows, 64))
        assert _of(profile.kernels, "hotdesk.contract").operations == 2 * rows * 64 * 32
        assert dict(profile.symbols) == {"batch": rows}


def test_a_profiled_program_still_gives_its_results() -> None:
    model, x = nn.Sequential(nn.Linear(32, 32), nn.ReLU()).eval(), torch.randn(4, 32)
    program = hotdesk.compile(model, (x,))
    before = program(x)
    program.profile(x)
    assert torch.equal(program(x), before)


ROOF = Roof(2, {"f32": 100e9, "f64": 50e9}, 10e9)


def _kernel(name: str, seconds: float, *lines: str) -> KernelProfile:
    return KernelProfile(name, "op", "f32[2] -> f32[2]", 2, seconds, 1_000_000, 4000, 4000, 1e-5, lines)


def test_the_roof_is_what_takes_longer() -> None:
    assert ROOF.seconds("f32", 100, 1) == 1e-9
    assert ROOF.seconds("f64", 100, 1) == 2e-9
    assert ROOF.seconds("f32", 100, 100) == 1e-8
    assert ROOF.seconds("i32", 100, 1) == 1e-9


def test_the_text_has_the_slowest_and_says_what_it_leaves_out() -> None:
    kernels = (_kernel("slow", 4e-5, "a.py:1", "b.py:2"), _kernel("fast", 1e-5))
    text = render_profile(Profile("main", (("n", 3),), 7, ROOF, kernels), top=1)
    assert text.splitlines() == [
        "main (n = 3): 0.050 ms in 4 calls of 2 kernels, median of 7 runs",
        "roof of 2 threads: 100 GF/s f32, 50 GF/s f64, 10.0 GB/s",
        "       ms     % calls    GF/s    GB/s of roof  kernel",
        "    0.040 80.0%     2    25.0     0.2     25%  slow op f32[2] -> f32[2]",
        f"{'':47}a.py:1 and 1 more",
        "    0.010 ms in 1 more kernels",
    ]


def test_it_is_json() -> None:
    profile = Profile("main", (), 7, ROOF, (_kernel("k", 4e-5, "a.py:1"),))
    found = json.loads(json.dumps(profile.to_dict()))
    assert found["kernels"][0]["share"] == 0.25
    assert found["seconds"] == 4e-5
    assert found["roof"]["flops"]["f32"] == 100e9
