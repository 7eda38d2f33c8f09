"""Small random models of `transformers`, one for each architecture: those that torch.export exports give eager's numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.architectures.listed import ARCHITECTURES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_architecture(name: str) -> None:
    """In a process of its own: what PyTorch keeps of each model that it traces would add up."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.architectures.compare", name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_at_least_sixty_are_exported() -> None:
    assert sum(architecture.unexported is None for architecture in ARCHITECTURES.values()) >= 60
