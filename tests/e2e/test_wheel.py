"""The wheel in an empty environment, with no extra, and with one alone: the doors that it opens, and what others ask for."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
ONNX = """
import hotdesk, numpy, onnx
from onnx import TensorProto, helper
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
program = hotdesk.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))
assert program(numpy.float32([-1, 0, 1, 2])).tolist() == [0, 0, 1, 2]
"""
BASE = [
    ["hotdesk", "run", "program.mlir", "--random-inputs"],
    ["hotdesk", "report", "program.mlir", "--json", "report.json"],
    ["hotdesk", "explain", "report.json"],
    ["hotdesk", "diff", "report.json", "report.json"],
    ["hotdesk", "plan", "report.json"],
    ["hotdesk", "profile", "program.mlir", "--random-inputs"],
    ["hotdesk", "list-passes"],
    ["hotdesk", "doctor"],
    ["hotdesk-opt", "program.mlir", "--hotdesk-one-shot-bufferize"],
    ["python", "-c", "import hotdesk; hotdesk.compile('program.mlir').save('program.hotdesk')"],
    ["hotdesk", "report", "program.hotdesk"],
]
DOORS = {
    "": BASE,
    "aot": [["hotdesk", "export-c", "program.mlir", "-o", "exported"]],
    "blas": BASE[:1],
    "onnx": [["python", "-c", ONNX]],
    "report": [["hotdesk", "report", "program.mlir", "--html", "r.html", "--svg", "r.svg", "--png", "r.png"]],
}
MISSING = {
    "aot": [["hotdesk", "export-c", "program.mlir", "-o", "exported"]],
    "report": [["hotdesk", "report", "program.mlir", "--html", "r.html"]],
    "torch": [["hotdesk", "report", "model.py:build"]],
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make package` builds."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True)
    assert len(list(folder.glob("*.tar.gz"))) == 1
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("extra", DOORS)
def test_doors(extra: str, wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    named = f"{wheel}[{extra}]" if extra else str(wheel)
    _run(tmp_path, ["python", "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), named])
    (tmp_path / "program.mlir").write_text(PROGRAM)
    for command in DOORS[extra]:
        done = _run(tmp_path, command)
        assert done.returncode == 0, done.stderr
    for name, commands in MISSING.items() if not extra else ():
        for command in commands:
            done = _run(tmp_path, command)
            assert done.returncode == 1
            assert f"pip install 'hotdesk[{name}]'" in done.stderr


def _run(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of the environment there, which sees nothing of the repository."""
    program = str(folder / "venv" / "bin" / command[0])
    environment = {"PATH": "/usr/bin:/bin", "HOTDESK_CACHE": "0", "HOME": str(folder)}
    return subprocess.run([program, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True)
