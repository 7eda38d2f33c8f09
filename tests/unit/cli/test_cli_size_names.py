"""Sizes that nobody named have the names of the input's values wherever a size is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.cli import main as hotdesk
from hotdesk.cli import opt as hotdesk_opt

TEXT = """\
func.func @main(%x: tensor<?xf32>, %flag: i1, %rows: index,
                %y: tensor<?x4xf32> {hotdesk.shape = ["batch", "4"]}) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.maxsi %rows, %c0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  %o = arith.constant 1.0 : f32
  %f = tensor.empty(%m) : tensor<?xf32>
  %g = linalg.fill ins(%o : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %b = tensor.dim %y, %c0 : tensor<?x4xf32>
  %h = tensor.empty(%b) : tensor<?x4xf32>
  %k = linalg.map { math.exp } ins(%y : tensor<?x4xf32>) outs(%h : tensor<?x4xf32>)
  return %a, %g, %k : tensor<?xf32>, tensor<?xf32>, tensor<?x4xf32>
}
"""
FORBIDDEN = ("opaque", "Max(", "Min(", "Piecewise", "argument 0 (")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(("value", "size"), [("%a", "4*(dim 0 of %x)"), ("%g", "4*max(0, %rows)"), ("%k", "16*batch")])
def test_explain(file: Path, capsys: pytest.CaptureFixture[str], value: str, size: str) -> None:
    assert hotdesk.main(["explain", str(file), "--value", value]) == 0
    out = capsys.readouterr().out
    assert f" ({size} bytes) " in out
    assert not any(word in out for word in FORBIDDEN[:-1])


@pytest.mark.parametrize(
    "flags", [["--print-decisions"], ["--remarks-filter="], ["--remarks-filter=", "--remark-format=yaml"]]
)
def test_decisions_and_remarks(file: Path, capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    passes = ["--hotdesk-one-shot-bufferize=results=returned", "--hotdesk-buffer-deallocation"]
    assert hotdesk_opt.main([str(file), *passes, *flags, "-o", str(file.parent / "out.mlir")]) == 0
    told = capsys.readouterr().err
    assert "4*(dim 0 of %x)" in told
    assert "4*max(0, %rows)" in told
    assert "16*batch" in told
    assert not any(word in told for word in FORBIDDEN)


def test_a_file_that_is_read_from_elsewhere_keeps_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a location names another file, there is no name to be found: the op and its place are told."""
    file = tmp_path / "in.mlir"
    lines = ["func.func @main(%t: tensor<1xindex>, %c: index) -> tensor<?xf32> {",
             '  %n = tensor.extract %t[%c] : tensor<1xindex> loc("model.py":3:1)',
             "  %o = arith.constant 1.0 : f32",
             "  %f = tensor.empty(%n) : tensor<?xf32>",
             "  %g = linalg.fill ins(%o : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>",
             "  return %g : tensor<?xf32>", "}"]  # fmt: skip
    file.write_text("\n".join(lines))
    flags = ["--hotdesk-one-shot-bufferize", "--print-decisions", "-o", str(tmp_path / "out.mlir")]
    assert hotdesk_opt.main([str(file), *flags]) == 0
    assert "4*(`tensor.extract` (model.py:3)) bytes" in capsys.readouterr().err
