"""A call of a shape seen before allocates nothing for tensor data: counted at malloc and mmap, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import hotdesk
from benchmarks import interposer
from examples.models import MODELS

ROOT = Path(__file__).resolve().parents[2]

THRESHOLD = 1024
"""Bytes: what Python makes of a call, tuples and tensor objects, is smaller; every tensor of these models is larger."""

CHILD = """
import sys, torch, hotdesk
from benchmarks.interposer import Counters
from examples.models import MODELS
from tests.e2e.checking import ConvNet, Transformer, integers, random, seeded

name, threshold = sys.argv[1], int(sys.argv[2])
dynamic = None
if name in MODELS:
    model, inputs, dynamic = MODELS[name].build(), MODELS[name].inputs(64), MODELS[name].dynamic_shapes
elif name == "convnet":
    model, inputs = seeded(ConvNet).features[:-1], (random(2, 3, 32, 32),)
else:
    model, inputs = seeded(Transformer), (integers(50, 2, 48),)

program = hotdesk.compile(model, inputs, dynamic_shapes=dynamic)
out = (program(*inputs),)
assert out[0].nbytes >= threshold
for _ in range(100):  # until each thread has had a part beside the others: it then has scratch memory of its own
    program(*inputs, out=out)

counters = Counters(large_size=threshold)
lent = counters.during(lambda: [program(*inputs, out=out) for _ in range(10)])
assert lent.large_allocations == 0, f"with out=: {lent}"
assert lent.held < threshold, f"with out=: {lent}"

made = counters.during(lambda: program(*inputs))
assert made.large_allocations == len(out), f"without out=: {made}"
assert made.peak <= sum(tensor.nbytes for tensor in out) + 64 * len(out) + 16 * threshold, f"without out=: {made}"

checked = counters.during(lambda: model(*inputs))
assert checked.large_allocations > 0, "the counters do not count"
"""


LOOPS = """
import torch, hotdesk
from torch._higher_order_ops import while_loop
from benchmarks.interposer import Counters

SCF = '''
func.func @main(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4x8xf32> {
    %et = tensor.empty() : tensor<8x4xf32>
    %t = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) permutation = [1, 0]
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = linalg.matmul ins(%x, %t : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %ea = tensor.empty() : tensor<4x8xf32>
    %q = linalg.fill ins(%z : f32) outs(%ea : tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = linalg.matmul ins(%m, %a : tensor<4x4xf32>, tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) -> tensor<4x8xf32>
    %h = tensor.empty() : tensor<4x8xf32>
    %w = linalg.tanh ins(%y : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %w : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
'''

class While(torch.nn.Module):
    def forward(self, x, n):
        def step(i, x):
            return i + 1, torch.tanh(x @ x.T @ x + 0.1)
        return while_loop(lambda i, x: i < n, step, (torch.tensor(0), x))[1]

x, few, many = torch.ones(4, 8) / 9, torch.tensor(3), torch.tensor(100_000)
programs = (
    (hotdesk.compile(SCF), (x, 3), (x, 100_000)),
    (hotdesk.compile(While(), (x, few)), (x, few), (x, many)),
)
for program, short, long in programs:
    out = (program(*short),)
    memory = program.memory(*long)
    assert memory.arena == memory.lower_bound == program.memory(*short).arena > 0, memory
    for each in (short, long) * 3:
        program(*each, out=out)
    counters = Counters(large_size=64)
    at_most = counters.during(lambda: program(*short, out=out))
    found = counters.during(lambda: program(*long, out=out))
    assert found.allocations <= at_most.allocations + 16, (at_most, found)
    assert found.held < 1024 and found.peak < 4096, found
checked = counters.during(lambda: [bytes(1000) for _ in range(100)])
assert checked.large_allocations >= 100, "the counters do not count"
"""


LOADED = """
import gc, sys
from importlib import import_module

import numpy
from benchmarks.interposer import Counters

counters = Counters()
path, imported, batch = sys.argv[1], sys.argv[2].split(","), numpy.ones((32, 224), numpy.float32)
for name in filter(None, imported):
    import_module(name)
import hotdesk
gc.collect()
before = counters.current()
program = hotdesk.load(path)
for _ in range(20):
    program(batch)
gc.collect()
print(counters.current() - before)
print(",".join(name for name in sys.modules if name.startswith(("hotdesk.", "numpy.", "json", "ctypes"))))
"""


def test_a_small_program_that_was_loaded_holds_little(tmp_path: Path) -> None:
    """What Python keeps of a program and its threads; modules are imported before."""
    torch.manual_seed(0)
    hotdesk.compile(
        MODELS["demo"].build(), MODELS["demo"].inputs(32), dynamic_shapes=MODELS["demo"].dynamic_shapes
    ).save(tmp_path / "demo")
    _, modules = _run(LOADED, str(tmp_path / "demo"), "")
    held, _ = _run(LOADED, str(tmp_path / "demo"), modules, PYTHONMALLOC="malloc", PYTHONHASHSEED="0")
    assert int(held) < 68_000  # 64,000 to 66,000 by processor and by the order of sets


def test_a_hundred_thousand_iterations_allocate_nothing() -> None:
    _run(LOOPS)


@pytest.mark.parametrize("name", ["demo", "mlp", "convnet", "transformer"])
def test_steady_calls_allocate_nothing(name: str) -> None:
    _run(CHILD, name, str(THRESHOLD))


def _run(text: str, *arguments: str, **variables: str) -> list[str]:
    """The lines that a Python process prints under the interposer."""
    environment = {
        **os.environ,
        **variables,
        **interposer.preloaded(),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-c", text, *arguments]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
