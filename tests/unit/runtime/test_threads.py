"""Programs that share the pool: from several threads at once, and after a fork."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.runtime.threads import core_count
from tests.harness import Compiled, everything

PROGRAM = """
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
"""
A, B = (np.random.default_rng(seed).integers(-3, 4, (512, 512)).astype(np.float32) for seed in (1, 2))


def _right(program: Compiled) -> bool:
    return np.array_equal(program(A, B)[0], A @ B)


def test_programs_that_run_at_once() -> None:
    programs = [Compiled(PROGRAM, everything) for _ in range(4)]
    with ThreadPoolExecutor(len(programs)) as callers:
        right = callers.map(lambda program: [_right(program) for _ in range(50)], programs)
    assert all(map(all, right))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_works_alone() -> None:
    program = Compiled(PROGRAM, everything)
    assert _right(program)
    child = os.fork()
    if not child:
        os._exit(0 if all(_right(program) for _ in range(20)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _right(program)


def test_calls_of_one_program_at_once_have_an_arena_each() -> None:
    class Deep(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = torch.tanh(layer(x)) + x.mean(-1, keepdim=True)
            return x

    inputs = [torch.randn(192, 256, generator=torch.Generator().manual_seed(seed)) for seed in range(8)]
    program = hotdesk.compile(Deep().eval(), (inputs[0],))
    expected = [program(x) for x in inputs]
    assert program.arenas == 1
    start = threading.Barrier(len(inputs), timeout=60)

    def work(number: int) -> bool:
        start.wait()
        return all(torch.equal(program(inputs[number]), expected[number]) for _ in range(60))

    with ThreadPoolExecutor(len(inputs)) as callers:
        right = list(callers.map(work, range(len(inputs))))
    assert all(right)
    assert 1 <= program.arenas <= core_count()
