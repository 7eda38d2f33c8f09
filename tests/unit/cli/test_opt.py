"""The driver: passes in order, inputs in parts, and errors as diagnostics."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hotdesk.cli.opt import main
from hotdesk.passes.registry import pass_names

COPY = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""
UNDECLARED = """func.func @main() -> tensor<4xf32> {
  return %r : tensor<4xf32>
}
"""
UNKNOWN_OP = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(COPY)
    return path


def test_without_passes_the_module_is_printed_back(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file)]) == 0
    assert "func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>" in capsys.readouterr().out


def test_standard_input_and_an_output_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(COPY))
    assert main(["-", "-o", str(tmp_path / "out.mlir"), "--hotdesk-one-shot-bufferize"]) == 0
    assert "memref<4xf32>" in (tmp_path / "out.mlir").read_text()
    assert capsys.readouterr().out == ""


def test_flags_run_in_their_order(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--hotdesk-one-shot-bufferize", "--hotdesk-buffer-deallocation"]) == 0
    assert "tensor<" not in capsys.readouterr().out


def test_decisions_are_lines_on_stderr(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--hotdesk-one-shot-bufferize", "--print-decisions"]) == 0
    assert capsys.readouterr().err == "decision: result 0: copied: returned-input, 16 bytes\n"


def test_list_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-passes"]) == 0
    assert capsys.readouterr().out.split() == list(pass_names())


def test_parts_of_a_file_fail_alone_and_lines_are_counted_from_its_start(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(f"{UNDECLARED}// -----\n{UNKNOWN_OP}// -----\n{COPY}")
    assert main([str(file), "--split-input-file", "--hotdesk-one-shot-bufferize"]) == 1
    output = capsys.readouterr()
    assert output.out.count("func.func") == 1
    first, second = output.err.splitlines()
    assert first == f"{file}:2:10: error: use of undeclared SSA value name"
    assert second.startswith(f"{file}:6:3: error: op `tosa.abs` has tensors but no model")


def test_what_mlir_says_of_a_failed_pass_comes_with_its_place(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(UNKNOWN_OP)
    assert main([str(file), "--pass-pipeline=builtin.module(one-shot-bufferize)"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{file}:2:8: error: op was not bufferized\n")
    assert error.endswith("[HD304]\n")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pass-pipeline=builtin.module(hotdesk-chose-destinations)"], "Did you mean hotdesk-choose-destinations"),
        (["--pass-pipeline=builtin.module(no-such-pass)"], "'no-such-pass' does not refer to a registered pass"),
        (["--pass-pipeline=canonicalize"], "expected 'builtin.module(…)'"),
        (["--pass-pipeline=builtin.module(cse)", "--hotdesk-split-prepare"], "got both"),
        (["no/such/file.mlir"], "no/such/file.mlir"),
    ],
)
def test_a_command_that_cannot_work_ends_with_a_message(
    arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = arguments if "file" in arguments[0] else [str(file), *arguments]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_unknown_flags_are_refused_by_the_parser(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(file), "--hotdesk-chose-destinations"])
    assert caught.value.code == 2
    assert "--hotdesk-chose-destinations" in capsys.readouterr().err
