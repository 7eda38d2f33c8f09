"""Every example of every verb's `--help` runs, on files of the names that it mentions."""

from __future__ import annotations

import pickle
import shlex
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx import TensorProto, helper

from hotdesk.cli.main import VERBS, main
from hotdesk.cli.trace import EXAMPLES as OF_TRACES

MODEL = """
import torch
def build():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))
    return model.eval(), (torch.ones(8, 16),)
"""
PROGRAM = """func.func @main(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %5 = linalg.exp ins(%x : tensor<8x3xf32>) outs(%x : tensor<8x3xf32>) -> tensor<8x3xf32>
  return %5 : tensor<8x3xf32>
}
"""
MEMREFS = """func.func @main(%x: memref<?x?xf32>) {
  linalg.exp ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
  return
}
"""
SLOW = ("tradeoff", "export-c")
"""Verbs that measure others, or compile for several processors."""


def _examples() -> list[Any]:
    found = [(name, text) for name, verb in VERBS.items() for text in _of(verb.parser().epilog or "")]
    found += [("plan trace", text) for text in OF_TRACES]
    return [pytest.param(text, marks=[pytest.mark.slow] if name in SLOW else [], id=text) for name, text in found]


def _of(epilog: str) -> list[str]:
    """The lines below `examples:`."""
    return [line.strip() for line in epilog.partition("examples:\n")[2].split("\n\n")[0].splitlines()]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each name that an example has."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "my_model.py").write_text(MODEL)
    programs = {"in.mlir": PROGRAM, "model.mlir": PROGRAM.replace("8x3", "?x?"), "memrefs.mlir": MEMREFS}
    for name, text in programs.items():
        (folder / name).write_text(text)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU()).eval()
    torch.export.save(torch.export.export(model, (torch.ones(8, 16),)), folder / "model.pt2")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 64, 64]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "model.onnx"
    )
    (folder / "problem.csv").write_text("id,lower,upper,size\na,0,2,64\nb,1,3,64\n")
    return folder


@pytest.mark.parametrize("example", _examples())
def test_example(
    example: str, files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    for name in ("main.json", "branch.json"):
        if name in example and not Path(name).exists():
            assert main(["report", "my_model.py:build", "--json", name]) == 0
    for name in ("trace.json", "snapshot.pickle"):
        if name in example:
            _record(name)
    capsys.readouterr()
    program, *arguments = shlex.split(example)
    assert program == "hotdesk"
    assert main(arguments) == 0, capsys.readouterr().err
    assert capsys.readouterr().out or "--html" in example or "--json" in example or " -o " in example


def _record(name: str) -> None:
    """A trace of PyTorch's as a file of that name: of its profiler, or a snapshot of its memory."""
    if name == "trace.json":
        data = Path(__file__).parents[2] / "data" / "traces" / "profiler.json"
        Path(name).write_bytes(data.read_bytes())
        return
    history = [{"action": "alloc", "addr": 1, "size": 512}, {"action": "free_completed", "addr": 1, "size": 512}]
    Path(name).write_bytes(pickle.dumps({"segments": [], "device_traces": [history]}))


def test_every_verb_has_two() -> None:
    assert {name: len(_of(verb.parser().epilog or "")) for name, verb in VERBS.items()} == dict.fromkeys(VERBS, 2)
