"""A call of a shape seen before allocates nothing for tensor data: counted at malloc and mmap, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import interposer

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


@pytest.mark.parametrize("name", ["demo", "mlp", "convnet", "transformer"])
def test_steady_calls_allocate_nothing(name: str) -> None:
    environment = {
        **os.environ,
        **interposer.preloaded(),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-c", CHILD, name, str(THRESHOLD)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
