"""`hotdesk export-c`: the models and targets it takes, what it prints, and what it refuses."""

from __future__ import annotations

import io
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

from hotdesk.cli.main import main
from hotdesk.runtime.code.targets import TARGETS

MODEL = """
import torch
def build():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval(), (torch.ones(4, 3),)
"""
IN_MLIR = """func.func @scaled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("exported_model.py").write_text(MODEL)
    Path("in.mlir").write_text(IN_MLIR)
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubled", tensors[:1], tensors[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), "in.onnx")
    return tmp_path


def _run(name: str, given: np.ndarray) -> list[float]:
    """The results of what was exported to `out`, built by the system's compiler."""
    files = [f"{name}.c", f"{name}_weights.S", f"{name}_kernels.o", "main.c"]
    subprocess.run(["cc", "-std=c11", *files, "-lm", "-o", "example"], cwd="out", check=True)
    told = subprocess.run(["out/example"], input=given.astype(np.float32).tobytes(), capture_output=True, check=True)
    return np.frombuffer(told.stdout, np.float32).tolist()


def test_a_python_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-c", "exported_model.py:build", "-o", "out", "--name", "net"]) == 0
    *files, last = capsys.readouterr().out.splitlines()
    assert dict(re.findall(r"(\S+) +([\d,]+) bytes", "\n".join(files))) == {
        str(each): f"{each.stat().st_size:,}" for each in Path("out").iterdir()
    }
    (arena,) = re.findall(r"NET_ARENA_BYTES (\d+)", Path("out/net.h").read_text())
    assert last == f"x86_64-unknown-linux-gnu, a static arena of {int(arena):,} bytes"
    scope: dict[str, Any] = {}
    exec(MODEL, scope)
    model, args = scope["build"]()
    np.testing.assert_allclose(_run("net", np.ones((4, 3))), model(*args).detach().numpy().ravel(), rtol=1e-5)


def test_an_exported_program_for_another_processor() -> None:
    exported = torch.export.export(torch.nn.Linear(3, 2).eval(), (torch.ones(1, 3),))
    torch.export.save(exported, "in.pt2")
    assert main(["export-c", "in.pt2", "--output", "out", "--target", "aarch64"]) == 0
    assert struct.unpack_from("<H", Path("out/model_kernels.o").read_bytes(), 18) == (183,)


def test_an_onnx_model_of_given_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-c", "in.onnx", "-o", "out", "--dim", "batch=1"]) == 2
    assert "expected a number for each of n, got sizes that vary. Write --dim batch=1,n=1." in capsys.readouterr().err
    assert not Path("out").exists()
    assert main(["export-c", "in.onnx", "-o", "out", "--dim", "batch=1,n=3"]) == 0
    assert main(["export-c", "in.onnx", "-o", "out", "--dim", "batch=1", "--dim", "n=3"]) == 0
    assert _run("model", np.arange(3)) == [0, 2, 4]


@pytest.mark.parametrize("file", ["in.mlir", "-"])
def test_a_program_in_mlir(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(IN_MLIR))
    assert main(["export-c", file, "-o", "out", "--entry", "scaled"]) == 0
    assert _run("model", np.arange(4)) == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "expected FILE.pt2, FILE.py[:NAME]"),
        (["missing.mlir"], "missing.mlir"),
        (["exported_model.py", "--dim", "n=3"], "option '--dim': expected an ONNX model"),
        (["exported_model.py", "--entry", "scaled"], "option '--entry': expected a program in MLIR"),
        (["in.onnx", "--dim", "rows=3"], "option '--dim': expected names of sizes: batch, n, got 'rows'"),
        (["in.mlir", "--entry", "other"], "got sizes that vary"),
        (["exported_model.py", "--name", "a-b"], "option 'name': expected a name in C"),
        (["exported_model.py", "--name", "main"], "option 'name': expected a name in C, but none of ALL_BUILD"),
        (["exported_model.py", "--name", "größe"], "option 'name': expected a name in C"),
    ],
)
def test_what_it_refuses(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    is_failure = arguments[0].startswith("missing") or "other" in arguments
    assert main(["export-c", *arguments, "-o", "out"]) == (1 if is_failure else 2)
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-c", "in.mlir", "--entry", "scaled", "-o", "in.mlir"]) == 1
    assert capsys.readouterr().err == "error: in.mlir: expected a folder, got a file\n"


@pytest.mark.parametrize("arguments", [["in.mlir"], ["in.mlir", "-o", "out", "--target", "vax"]])
def test_a_command_line_without_sense(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["export-c", *arguments])
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert "-o" in told
    assert all(target in told for target in TARGETS)
