"""How IR is printed: locations name the input, at the end and between passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.cli.opt import main

TEXT = """func.func @main(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32 loc(callsite("f"("-":7:1) at "b.py":3:4))
  %1 = arith.addf %0, %a {k = "\\"-\\":1:2 -:1:2"} : f32
  %2 = arith.mulf %1, %a : f32 loc("product")
  return %2 : f32
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


def test_locations_name_the_input(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--mlir-print-debuginfo", "--mlir-print-local-scope"]) == 0
    text = capsys.readouterr().out
    assert f'"f"("{file}":7:1) at "b.py":3:4' in text
    assert f'"\\22-\\22:1:2 -:1:2"}} : f32 loc("{file}":3:8)' in text


@pytest.mark.parametrize("name", ["cse", "hotdesk-one-shot-bufferize"])
def test_locations_between_passes_name_the_input(name: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), f"--{name}", "--mlir-print-debuginfo", "--mlir-print-ir-after-all"]) == 0
    told = capsys.readouterr().err
    assert f'loc("{file}":5:3)' in told
    assert 'loc("-"' not in told


def test_passes_are_named_together_or_one_by_one(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passes = [str(file), "--cse", "--canonicalize", "--symbol-dce"]
    assert main([*passes, "--mlir-print-ir-after=cse,canonicalize"]) == 0
    together = capsys.readouterr().err
    assert [line.split()[5] for line in together.splitlines() if "IR Dump" in line] == ["CSEPass", "CanonicalizerPass"]
    assert main([*passes, "--mlir-print-ir-after=cse", "--mlir-print-ir-after=canonicalize"]) == 0
    assert capsys.readouterr().err == together


def test_diagnostics_without_the_operation(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('%0 = "arith.constant"() : () -> i32\n')
    assert main([str(file)]) == 1
    assert "note: see current operation: " in capsys.readouterr().err
    assert main([str(file), "--mlir-print-op-on-diagnostic=false"]) == 1
    told = capsys.readouterr().err
    assert "error: 'arith.constant' op requires attribute 'value'" in told
    assert "see current operation" not in told
