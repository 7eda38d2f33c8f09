"""The compiler's pipeline, printed as a text: `hotdesk-opt` runs it on the imported module to the same IR, byte for byte."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk import Options, Program
from hotdesk.cli.opt import main as hotdesk_opt
from hotdesk.pipeline import Log, compiler
from tests.e2e.small_models import SMALL_MODELS

LAST = "hotdesk-buffer-deallocation"


def compiled(name: str, options: Options, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, Log]:
    """A model, compiled, and the log of that."""
    logs: list[Log] = []

    class Kept(Log):
        def __init__(self, keep_ir: bool = False) -> None:
            super().__init__(keep_ir)
            logs.append(self)

    monkeypatch.setattr(import_module("hotdesk.compiling.compile"), "Log", Kept)
    if name == "wide_mlp":  # larger in the middle than at its ends, so that a budget cuts it
        model = nn.Sequential(nn.Linear(16, 256), nn.GELU(), nn.Linear(256, 16)).eval()
        return hotdesk.compile(model, (torch.ones(64, 16),), options=options), logs[0]
    spec = SMALL_MODELS[name]
    return hotdesk.compile(spec.build(), spec.inputs(), options=options), logs[0]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("resnet50", Options(keep_ir=True)),
        ("bert_base", Options(keep_ir=True)),
        ("wide_mlp", Options(keep_ir=True, order="peak", budget="40 KiB")),
    ],
)
def test_the_text_runs_to_the_same_ir(
    name: str, options: Options, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, log = compiled(name, options, monkeypatch)
    if options.budget is None:
        assert log.pipeline == compiler()
    else:
        assert "hotdesk-split-rows{" in str(log.pipeline)
    file = tmp_path / "imported.mlir"
    file.write_text(program.ir("capture"))
    capsys.readouterr()
    assert not hotdesk_opt([str(file), f"--pass-pipeline={log.pipeline}"])
    assert capsys.readouterr().out.rstrip("\n") == program.ir(LAST).rstrip("\n")
