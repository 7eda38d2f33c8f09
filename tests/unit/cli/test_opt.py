"""The driver: passes in order, inputs in parts, and errors as diagnostics."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from torch_mlir import ir

from hotdesk.cli import session
from hotdesk.cli.opt import main
from hotdesk.explain import Decision
from hotdesk.passes.base import Pass
from hotdesk.passes.registry import pass_names
from hotdesk.passes.textual import PassPipeline

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


@dataclass(frozen=True, slots=True)
class Invalid(Pass):
    """A pass that leaves a function whose type contradicts its results."""

    name: ClassVar[str] = "hotdesk-invalid"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        function = module.body.operations[0].operation
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [ir.IndexType.get()]))
        return ()


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
    told = (
        f"decision: result 0: copied: returned-input, 16 bytes (argument 0 at {file}:1:17, func.return at {file}:2:3)\n"
    )
    assert capsys.readouterr().err == told


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
    first, *text, second, _, _ = output.err.splitlines()
    assert first == f"{file}:2:10: error: use of undeclared SSA value name"
    assert text == ["  return %r : tensor<4xf32>", "         ^"]
    assert second.startswith(f"{file}:6:8: error: op `tosa.abs` has tensors but no model")


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
        (["--canonicalize=max-iterations=many"], "pass 'canonicalize'"),
        (["--hotdesk-reshapes-as-views=x=1"], "it has: none"),
        (["--hotdesk-one-shot-bufferize=buffer-alignment=²"], "expected a value of type int, got '²'"),
        (["--hotdesk-one-shot-bufferize=buffer-alignment=--1"], "expected a value of type int, got '--1'"),
        ([f"--hotdesk-one-shot-bufferize=buffer-alignment={'1' * 5000}"], "expected a value of type int"),
        (
            ["-o", "/no/such/folder/out.mlir"],
            "/no/such/folder/out.mlir: expected a file, got no folder '/no/such/folder'",
        ),
        (["no/such/file.mlir"], "no/such/file.mlir: expected a file, got no folder 'no/such'"),
    ],
)
def test_a_command_that_cannot_work_ends_with_a_message(
    arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = arguments if arguments[0].startswith("no/") else [str(file), *arguments]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_flags_of_passes_and_a_pipeline(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--pass-pipeline=builtin.module(cse)", "--hotdesk-split-prepare"]) == 2
    assert "got both" in capsys.readouterr().err


def test_an_alignment_that_no_attribute_holds(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), f"--hotdesk-one-shot-bufferize=buffer-alignment={1 << 63}"]) == 1
    assert "expected a power of two, or 0" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["--mlir-elide-elementsattrs-if-larger", "--mlir-elide-resource-strings-if-larger"])
@pytest.mark.parametrize("number", [str(1 << 63), "-1", "²"])
def test_limits_that_are_no_numbers(limit: str, number: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(file), f"{limit}={number}"])
    assert caught.value.code == 2
    assert f"expected a number, got '{number}'" in capsys.readouterr().err


@dataclass(frozen=True, slots=True)
class Broken(Pass):
    """A pass with a defect."""

    name: ClassVar[str] = "hotdesk-broken"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        raise KeyError("lost")


def test_a_defect_of_a_pass_is_told_by_its_name(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "flag_pipeline", lambda flags: PassPipeline((Broken(),)))
    assert main([str(file)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{file}: error: internal error in pass 'hotdesk-broken': got KeyError: 'lost'. This is a")
    assert "Traceback" not in error
    assert main([str(file), "--debug"]) == 1
    assert "KeyError: 'lost'" in capsys.readouterr().err.partition("Traceback")[2]


def test_a_defect_of_the_command_itself(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(flags: object) -> PassPipeline:
        raise RuntimeError("lost")

    monkeypatch.setattr(session, "flag_pipeline", broken)
    assert main([str(file)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: internal error in hotdesk-opt: RuntimeError: lost\n")
    assert "Traceback" not in error


def test_a_pipeline_that_is_dumped_parses_back(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--canonicalize=max-iterations=3", "--hotdesk-split-prepare", "--llvm-request-c-wrappers"]
    assert main([str(file), *flags, "--dump-pass-pipeline"]) == 0
    dumped = capsys.readouterr().err.strip()
    assert main([str(file), f"--pass-pipeline={dumped}", "--dump-pass-pipeline"]) == 0
    assert capsys.readouterr().err.strip() == dumped


def test_verification_after_passes_can_be_left_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "flag_pipeline", lambda flags: PassPipeline((Invalid(),)))
    assert main([str(file), "-o", str(file)]) == 1
    file.write_text(COPY)
    assert main([str(file), "-o", str(file), "--verify-each=0"]) == 0


def test_unknown_flags_are_refused_by_the_parser(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(file), "--hotdesk-chose-destinations"])
    assert caught.value.code == 2
    assert "--hotdesk-chose-destinations" in capsys.readouterr().err
