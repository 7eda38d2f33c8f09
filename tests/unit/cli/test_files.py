"""What is read and written: files that stay as they were when something fails, bytecode, and the versions and dialects."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from torch_mlir import ir

from hotdesk.cli.files import fill
from hotdesk.cli.opt import main
from hotdesk.ir.context import make_context

GOOD = """func.func @main(%x: tensor<4xf32>, %c: f32, %i: index) -> (tensor<4xf32>, f32) {
  %0 = tensor.insert %c into %x[%i] : tensor<4xf32>
  %1 = tensor.extract %x[%i] : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, f32
}
"""
BAD = "func.func @main() -> f32 {\n  return %r : f32\n}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize("text", [BAD, f"{GOOD}// -----\n{BAD}"])
def test_a_run_that_fails_leaves_the_output_as_it_was(tmp_path: Path, file: Path, text: str) -> None:
    file.write_text(text)
    there, new = tmp_path / "there.mlir", tmp_path / "new.mlir"
    there.write_text("before")
    assert main([str(file), "--split-input-file", "-o", str(there)]) == 1
    assert main([str(file), "--split-input-file", "-o", str(new)]) == 1
    assert main([str(file), "--split-input-file", "-o", str(file)]) == 1
    assert there.read_text() == "before"
    assert not new.exists()
    assert file.read_text() == text


def test_the_input_may_be_the_output_and_a_longer_file_is_replaced(file: Path, tmp_path: Path) -> None:
    assert main([str(file), "--cse", "-o", str(file)]) == 0
    assert file.read_text().startswith("module {\n  func.func @main")
    longer = tmp_path / "longer"
    longer.write_text("x" * 10_000)
    assert main([str(file), "-o", str(longer)]) == 0
    assert "x" * 10 not in longer.read_text()


def test_what_is_raised_removes_a_new_file(tmp_path: Path) -> None:
    def fails(_: object) -> int:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fill(str(tmp_path / "new"), fails)
    assert not (tmp_path / "new").exists()


def test_an_output_that_cannot_be_written_is_told_before_anything_runs(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), "--cse", "--mlir-print-ir-after-all", "-o", str(tmp_path / "no" / "out.mlir")]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path}/no/out.mlir: expected a file, got no folder '{tmp_path}/no'\n"


def test_parts_of_the_output_lie_between_markers_as_mlir_opt_writes_them(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("module @a {}\n// -----\nmodule @b {}\n")
    assert main([str(file), "--split-input-file"]) == 0
    assert capsys.readouterr().out == "module @a {\n}\n\n// -----\nmodule @b {\n}\n\n"
    assert main([str(file), "--split-input-file", "--output-split-marker="]) == 0
    assert capsys.readouterr().out == "module @a {\n}\n\n\nmodule @b {\n}\n\n"


# Bytecode


def test_bytecode_is_written_and_read_and_names_the_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = tmp_path / "out.mlirbc", tmp_path / "out.mlir"
    assert main([str(file), "--emit-bytecode", "-o", str(code)]) == 0
    assert code.read_bytes().startswith(b"ML\xefR")
    assert str(ir.Module.parse(code.read_bytes(), make_context())) == str(ir.Module.parse(GOOD, make_context()))
    assert main([str(code), "--mlir-print-debuginfo", "-o", str(text)]) == 0
    assert f'loc("{file}":2:8)' in text.read_text()
    assert main([str(code), "--hotdesk-one-shot-bufferize", "--remarks-filter-missed=bufferize"]) == 0
    assert capsys.readouterr().err.startswith(f"{file}:2:8: remark: [Missed] COPIED")


def test_bytecode_keeps_resources_and_ops_of_unknown_dialects(file: Path, tmp_path: Path) -> None:
    code = tmp_path / "out.mlirbc"
    value = '"toy.weights"() {w = dense_resource<w> : tensor<2xi32>} : () -> ()'
    section = '{-# dialect_resources: { builtin: { w: "0x040000000100000002000000" } } #-}'
    file.write_text(f"func.func @f() {{\n {value}\n return\n}}\n{section}")
    assert main([str(file), "--allow-unregistered-dialect", "--emit-bytecode", "-o", str(code)]) == 0
    context = make_context()
    context.allow_unregistered_dialects = True
    assert '"0x040000000100000002000000"' in str(module := ir.Module.parse(code.read_bytes(), context))
    assert "dense_resource<w> :" in str(module)


def test_bytecode_comes_from_standard_input_too(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "out.mlirbc"
    assert main([str(file), "--emit-bytecode", "-o", str(code)]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(code.read_bytes())))
    assert main(["-", "--cse"]) == 0
    assert "tensor.insert" in capsys.readouterr().out


def test_bytecode_that_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = tmp_path / "out.mlirbc"
    code.write_bytes(b"ML\xefR\rMLI")
    assert main([str(code)]) == 1
    assert capfd.readouterr().err.startswith(f"{code}: error: ")


# What is there


def test_dialects_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-dialects"]) == 0
    names = capsys.readouterr().out.removeprefix("Available Dialects: ").strip().split(",")
    assert {"builtin", "hotdesk", "linalg", "tensor", "tm_tensor", "torch"} <= set(names)
    assert names == sorted(names)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hotdesk-opt ")
