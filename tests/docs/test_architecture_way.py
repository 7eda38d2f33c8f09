"""docs/architecture.md follows a convolution from a model to its kernel: what it names on the way is what is called."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WAY = (
    (ROOT / "docs" / "architecture.md")
    .read_text(encoding="utf-8")
    .partition("## The way")[2]
    .partition("\nEach decision")[0]
)
ASIDE = {"passes/lower/control_flow.py"}
"""What the way names for programs that go another one: those with loops and branches."""
RUN = """
import inspect, sys, threading
from pathlib import Path

import torch
from torch import nn

import hotdesk

model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)).eval()
x = torch.rand(1, 3, 32, 32)
files = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # of a function: no module, and no class
        files.add(frame.f_code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
sys.executable = None  # no process beside this one, which would not be seen
y = hotdesk.compile(model, (x,))(x)
sys.setprofile(None)
torch.testing.assert_close(y, model(x), rtol=1e-4, atol=1e-4)
folder = Path(hotdesk.__file__).parent
print(*(Path(file).relative_to(folder).as_posix() for file in files if file.startswith(str(folder))), sep="\\n")
"""


@pytest.mark.slow
def test_files_on_the_way_are_run(tmp_path: Path) -> None:
    """In a process of its own, which has made no kernels yet."""
    environment = {**os.environ, "HOTDESK_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = done.stdout.split()
    named = set(re.findall(r"`([\w/]+\.py)`", WAY))
    assert len(named) > 25
    assert {name for name in named - ASIDE if not any(f"/{file}".endswith(f"/{name}") for file in run)} == set()


def test_functions_on_the_way_are_there() -> None:
    named = re.findall(r"`(hotdesk(?=\.compile)|pipeline|planning)\.([a-z_]+)", WAY)
    assert {name for _, name in named} == {"compile", "optimize_tensors", "bufferize", "lower", "plan"}
    in_files = re.findall(r"`([a-z_]+)` \(`(compiling/[a-z_]+)\.py`\)", WAY)
    assert [name for name, _ in in_files] == ["lower_and_link"]
    places = [("hotdesk" if module == "hotdesk" else f"hotdesk.{module}", name) for module, name in named]
    places += [(f"hotdesk.{file.replace('/', '.')}", name) for name, file in in_files]
    for module, name in places:
        assert callable(getattr(importlib.import_module(module), name))
