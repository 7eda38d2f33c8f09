"""`hotdesk profile`: the models it takes, what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from hotdesk.cli.main import main

MODEL = """
import torch
def build():
    return torch.nn.Linear(16, 8, bias=False).eval(), (torch.zeros(4, 16),)
def wrong():
    return torch.nn.Linear(16, 8)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small_model.py"
    path.write_text(MODEL)
    return path


def test_a_python_file(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", str(model)]) == 0
    printed = capsys.readouterr().out
    assert "GF/s" in printed
    assert "hotdesk.contract f32[4,16] f32[8,16] -> f32[4,8]" in printed


def test_an_exported_program_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.pt2"
    exported = torch.export.export(torch.nn.Linear(16, 8, bias=False).eval(), (torch.zeros(4, 16),))
    torch.export.save(exported, path)
    assert main(["profile", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (kernel,) = (each for each in found["kernels"] if each["op"] == "hotdesk.contract")
    assert kernel["operations"] == 2 * 4 * 16 * 8


@pytest.mark.parametrize("asked", ["{}:nothing", "{}:wrong", "missing.py", "no_such_module_of_ours"])
def test_what_it_refuses(asked: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", asked.format(model)]) == 1
    assert "expected FILE.pt2, FILE.py[:NAME]" in capsys.readouterr().err
