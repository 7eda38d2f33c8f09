"""`hotdesk tradeoff` on a small model: text, the record, pages and pictures, and what it refuses."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hotdesk.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "schema" / "tradeoff-1.json").read_text(encoding="utf-8"))
MODEL = """
import torch
def build():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 256), torch.nn.GELU(), torch.nn.Linear(256, 16)).eval(), (torch.ones(64, 16),)
"""
WEIGHTS = {"wide": (16, 256), "narrow": (256, 16)}
PROGRAM = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.py").write_text(MODEL)
    Path("program.mlir").write_text(PROGRAM)
    Path("fixed.mlir").write_text(PROGRAM.replace("?", "4"))


def test_text_and_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tradeoff", "small.py:build", "--beside", "none", "--budgets", "40KiB,20KiB", "--seconds", "0.1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "main: 3 ways to run it"
    assert [line.partition("hotdesk run ")[2] for line in lines[2:]] == [
        "small.py:build",
        "small.py:build --budget 40960",
        "small.py:build --budget 20480",
    ]
    arguments = ["small.py:build", "--beside", "none", "--budgets", "40KiB", "--seconds", "0.1"]
    assert main(["tradeoff", *arguments, "--json", "--html", "t.html", "--svg", "t.svg", "--png", "t.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert [(each["peak"], each["operations"]) for each in found["points"]] == [(69632, 0), (36864, 3)]
    assert "<title>small.py:build: trade-off</title>" in Path("t.html").read_text(encoding="utf-8")
    assert Path("t.svg").read_text(encoding="utf-8").startswith("<svg")
    assert Path("t.png").read_bytes().startswith(b"\x89PNG")


def test_a_command_line_of_the_table_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tradeoff", "small.py:build", "--beside", "none", "--budgets", "20KiB", "--json"]) == 0
    point = json.loads(capsys.readouterr().out)["points"][-1]
    program, *command = point["how"].split()
    assert program == "hotdesk"
    assert main(command) == 0
    assert f"({point['peak']:,}): arena and outputs" in capsys.readouterr().out


@pytest.mark.parametrize("sizes", [["--dim", "batch=64"], ["--dim", "batch=1:64", "--sizes", "batch=64"]])
def test_a_command_line_for_an_onnx_model_with_a_named_size(
    sizes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    weights = [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in WEIGHTS.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "wide"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "narrow"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 16]) for name in "xy"]
    graph = helper.make_graph(nodes, "net", values[:1], values[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), "net.onnx")
    assert main(["tradeoff", "net.onnx", "--most", "1", "--seconds", "0"]) == 1
    assert "`--dim batch=1:64`" in capsys.readouterr().err
    assert main(["tradeoff", "net.onnx", *sizes, "--most", "1", "--seconds", "0.01", "--beside", "none", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    points, is_fixed = found["points"], len(sizes) == 2
    assert len(points) == (2 if is_fixed else 1)
    assert ("sizes that are fixed, and batch varies here" in found["refused"]) == (not is_fixed)
    for point in points:
        program, *command = shlex.split(point["how"])
        assert program == "hotdesk"
        assert main(command) == 0
        told = capsys.readouterr().out
        assert f"{point['peak']:,}" in told.partition("peak ")[2].partition("\n")[0]


def test_mlir_with_random_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tradeoff", "fixed.mlir", "--seconds", "0.05"]) == 0
    assert "hotdesk run fixed.mlir --random-inputs" in capsys.readouterr().out
    assert main(["tradeoff", "program.mlir", "--sizes", "x[0]=5"]) == 1
    assert "error: the peaks that are compared: expected a greatest value for the size" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("small.py:build --sizes n=5", 2, "a PyTorch model has its examples"),
        ("program.hotdesk", 2, "which is compiled already"),
        ("no-such.mlir", 1, "no-such.mlir"),
    ],
)
def test_what_is_refused(line: str, code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tradeoff", *line.split()]) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["--beside tvm", "--budgets much", "--budgets 1MB --most 3", "--seconds -1", "--most -1"]
)
def test_a_wrong_command_line_is_exit_code_2(line: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["tradeoff", "small.py:build", *line.split()])
    assert caught.value.code == 2


def test_a_bar_and_a_table_on_a_terminal() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", "COLUMNS": "160"}
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "hotdesk.cli.main", "tradeoff", "fixed.mlir", "--seconds", "0.3"]
    with subprocess.Popen(command, stdout=writing, stderr=writing, env=environment) as child:
        os.close(writing)
        text = _read_all(reading)
        assert child.wait() == 0
    assert "search: as it is, 0 found" in text or "capture" in text
    assert "measure" in text
    assert "written twice" in text


def _read_all(reading: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except OSError:
            part = b""
        if not part:
            os.close(reading)
            return b"".join(parts).decode(errors="replace")
        parts.append(part)
