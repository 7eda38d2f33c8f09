"""The wheel in empty environments: of each Python that it is for, with no extra, and with each alone: the doors that it opens.

Pythons besides the one that runs the tests are looked for on the path and among pyenv's; one that is not there is not tested.
Nor is the extra `torch` where pip would take a wheel of PyTorch with CUDA, which brings gigabytes, unless
`HOTDESK_TEST_CUDA_WHEELS=1` asks for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
MEMREFS = """func.func @main(%x: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
"""
ONNX = """
import hotdesk, numpy, onnx
from onnx import TensorProto, helper
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), "model.onnx")
assert hotdesk.compile("model.onnx")(numpy.float32([-1, 0, 1, 2])).tolist() == [0, 0, 1, 2]
"""
TORCH = """
import hotdesk, torch
model, x = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).eval(), torch.randn(8, 16)
program = hotdesk.compile(model, (x,))
torch.testing.assert_close(program(x), model(x))
torch._dynamo.reset()
torch.testing.assert_close(torch.compile(model, backend="hotdesk")(x), model(x))
torch.export.save(torch.export.export(model, (x,)), "model.pt2")
"""
JAX = """
import hotdesk, jax, numpy
def f(x):
    return jax.numpy.tanh(x @ x.T)
x = numpy.random.default_rng(0).standard_normal((4, 8)).astype("f")
numpy.testing.assert_allclose(hotdesk.compile(jax.jit(f).lower(x))(x), f(x), rtol=1e-5, atol=1e-6)
"""
EXACT = """
import hotdesk.planning as planning
buffers = [("a", 0, 2, 3), ("b", 1, 3, 2), ("c", 2, 4, 4), ("d", 0, 4, 1)]
for strategy in ("dive", "cp-sat", "exact"):
    assert planning.plan(buffers, strategy=strategy).proven_optimal
"""
MODEL = """
import torch
def build():
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU()).eval(), (torch.ones(8, 16),)
"""
CSV = "id,lower,upper,size\na,0,2,64\nb,1,3,64\n"
BASE = [
    ["hotdesk", "run", "program.mlir", "--random-inputs"],
    ["hotdesk", "report", "program.mlir", "--json", "report.json"],
    ["hotdesk", "explain", "report.json"],
    ["hotdesk", "diff", "report.json", "report.json"],
    ["hotdesk", "plan", "report.json"],
    ["hotdesk", "plan", "problem.csv"],
    ["hotdesk", "plan", "trace", "problem.csv"],
    ["hotdesk", "check", "memrefs.mlir"],
    ["hotdesk", "tradeoff", "program.mlir", "--seconds", "0.1"],
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
    "exact": [["python", "-c", EXACT], ["hotdesk", "plan", "problem.csv", "--strategy", "exact"]],
    "jax": [["python", "-c", JAX]],
    "onnx": [
        ["python", "-c", ONNX],
        ["hotdesk", "run", "model.onnx", "--random-inputs"],
        ["hotdesk", "report", "model.onnx"],
    ],
    "report": [
        ["hotdesk", "report", "program.mlir", "--html", "r.html", "--svg", "r.svg", "--png", "r.png"],
        [
            "hotdesk",
            "tradeoff",
            "program.mlir",
            "--seconds",
            "0.1",
            "--html",
            "t.html",
            "--svg",
            "t.svg",
            "--png",
            "t.png",
        ],
    ],
    "torch": [
        ["python", "-c", TORCH],
        ["hotdesk", "run", "model.pt2"],
        *(["hotdesk", verb, "model.py:build"] for verb in ("check", "explain", "plan", "profile", "report", "run")),
        ["hotdesk", "tradeoff", "model.py:build", "--beside", "eager", "--seconds", "0.1"],
    ],
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


def _pythons() -> dict[str, str]:
    """The interpreters of the versions that the wheel is for, by version: those that are here."""
    of_pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), *map(str, sorted(of_pyenv.glob(f"{version}.*/bin/python")))]
        for each in filter(None, candidates):
            if subprocess.run([each, "-c", "import ensurepip"], capture_output=True).returncode == 0:
                found.setdefault(version, each)
    return {version: python for version, python in sorted(found.items()) if version in VERSIONS}


VERSIONS = ("3.10", "3.11", "3.12", "3.13")
NOT_MADE = {("3.10", "jax")}
"""Pythons for which there is no release of what an extra asks for."""
PYTHONS = _pythons()
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "extra"),
    [(version, extra) for extra in DOORS for version in PYTHONS if (version, extra) not in NOT_MADE],
)
def test_doors(version: str, extra: str, wheel: Path, tmp_path: Path) -> None:
    subprocess.run([PYTHONS[version], "-m", "venv", tmp_path / "venv"], check=True)
    named = f"{wheel}[{extra}]" if extra else str(wheel)
    pinned = ["-c", str(ROOT / "constraints.txt")] if version != "3.10" else []  # pins are for Python 3.11 and later
    if (
        extra == "torch"
        and os.environ.get("HOTDESK_TEST_CUDA_WHEELS") != "1"
        and "+cpu" not in _torch(tmp_path, pinned)
    ):
        pytest.skip(
            f"pip finds no PyTorch for CPUs and Python {version}: HOTDESK_TEST_CUDA_WHEELS=1 takes one with CUDA"
        )
    done = _run(tmp_path, ["python", "-m", "pip", "install", "--quiet", *pinned, named])
    assert done.returncode == 0, done.stderr
    files = {"program.mlir": PROGRAM, "memrefs.mlir": MEMREFS, "problem.csv": CSV, "model.py": MODEL}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for command in DOORS[extra]:
        done = _run(tmp_path, command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    for name, commands in MISSING.items() if not extra else ():
        for command in commands:
            done = _run(tmp_path, command)
            assert done.returncode == 1
            assert f"pip install 'hotdesk[{name}]'" in done.stderr
    shutil.rmtree(tmp_path / "venv")


def _torch(folder: Path, pinned: list[str]) -> str:
    """The version of PyTorch that pip would install in the environment there."""
    asked = ["install", "--dry-run", "--quiet", "--no-deps", "--report", "-", *pinned, "torch"]
    done = _run(folder, ["python", "-m", "pip", *asked])
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["install"][0]["metadata"]["version"])


def _run(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of the environment there, which sees nothing of the repository."""
    program = str(folder / "venv" / "bin" / command[0])
    of_pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment = {**of_pip, "PATH": "/usr/bin:/bin", "HOTDESK_CACHE": "0", "HOME": str(folder)}
    return subprocess.run([program, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True)


def test_the_wheel_is_for_the_pythons_that_are_tested() -> None:
    told = (ROOT / "pyproject.toml").read_text()
    assert f'requires-python = ">={VERSIONS[0]}"' in told
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', told) == list(VERSIONS)


def test_each_extra_has_a_door() -> None:
    told = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    assert set(re.findall(r"^(\w+) = ", told, re.MULTILINE)) - {"bench", "dev", "docs"} == set(DOORS) - {""}


def test_licences_are_listed() -> None:
    """Every package that the wheel or an extra asks for is in docs/dependencies.md, with a licence."""
    told = (ROOT / "pyproject.toml").read_text()
    asked = {*re.findall(r'^\s*"([\w-]+)[><=]', told, re.MULTILINE), *re.findall(r'[\[ ]"([\w-]+)>=[^"]*"[,\]]', told)}
    listed = re.findall(
        r"^\| [^|]*\| ([\w-]+) \| ([^|]+) \|", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE
    )
    assert asked - {"hatchling"} == {name for name, _ in listed if name != "package" and name != "---"}
    assert all(licence.strip() for _, licence in listed)
