"""README and the pages of docs: their Python and commands run, in order, and print what the pages show behind them.

Where a page takes names or files for granted, such as `model` and `in.mlir`, they are given here.
"""

from __future__ import annotations

import importlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

import hotdesk
from examples.models import MODELS
from hotdesk.cli.main import main
from hotdesk.cli.opt import main as opt
from hotdesk.models import registry
from hotdesk.passes.bufferize import decompositions

DOCS = Path(__file__).parents[2] / "docs"
_LINES = r"((?:(?!```).*\n)*)```"
FILE = re.compile(rf"^`([\w.]+)`.*:\n\n```\w+\n{_LINES}$", re.MULTILINE)
BLOCK = re.compile(rf"^```(python|sh)\n{_LINES}\n\n```text\n{_LINES}$", re.MULTILINE)
PYTHON = re.compile(rf"^```python\n{_LINES}$", re.MULTILINE)
SH = re.compile(r"^```(?:sh)?\n((?:\$ )?hotdesk.*\n(?:(?!```).*\n)*)```$", re.MULTILINE)
ELSEWHERE = {"torch-compile.md", "traces.md"}  # tests/e2e/test_dynamo.py and tests/unit/traces run what these show
ALL = [DOCS.parent / "README.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")])]
SHOWING = [page for page in ALL if page.name not in ELSEWHERE and "```text" in page.read_text(encoding="utf-8")]
PAGES = [page for page in SHOWING if page.name != "README.md"]  # its report is that of ResNet-50: below
MODEL = """
import hotdesk, torch
model, x = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval(), torch.ones(2, 4)
"""
PROGRAM = "program = hotdesk.compile(model, (x,), dynamic_shapes=({0: torch.export.Dim('batch', max=64)},))\n"
GIVEN = {
    "README.md": MODEL,
    "budget.md": MODEL,
    "donated-inputs.md": """
import hotdesk, torch
class Model(torch.nn.Module):
    def forward(self, cache, token):
        return cache + 1, token.exp()
model, cache, token = Model(), torch.ones(4), torch.ones(2)
""",
    "inplace-calls.md": """
from hotdesk.ir.context import make_context
from torch_mlir import ir
function = ir.Module.parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }", make_context())
""",
    "models.md": "from hotdesk.models import RESULTS, Flow, MemoryEffects, NewMemory",
    "partial-bufferization.md": "types = pack = unpack = packed = taken = lambda *given: None",
    "planning.md": MODEL + PROGRAM,
    "profile.md": MODEL + "program = hotdesk.compile(model, (x,))",
    "scheduling.md": MODEL,
}
"""What is there before the first block of a page."""
IR = """func.func @main(%x: tensor<8xf32>, %c: f32, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %1 = tensor.insert %c into %x[%n] : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %2 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
"""
MEMREFS = """func.func @main(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  memref.copy %a, %x : memref<8xf32> to memref<8xf32>
  return
}
"""
LAYERS = """
import torch

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)



    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Module()
        self.encoder.layer = torch.nn.ModuleList(Layer() for _ in range(4))

    def forward(self, x):
        for layer in self.encoder.layer:
            x = layer(x)
        return x

def build():
    return Net().eval(), (torch.ones(8, 64),)
"""
MODELS_OF = {"models.md": "toy.py"}
"""Pages that show a file of models of ops: its name."""


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models and decompositions that a page registers are gone after it."""
    registry.all_built_in()
    decompositions.decompositions()
    monkeypatch.setattr(registry, "_MODELS", dict(registry._MODELS))  # pyright: ignore[reportPrivateUsage]
    kept = dict(decompositions._DECOMPOSITIONS)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(decompositions, "_DECOMPOSITIONS", kept)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    text = page.read_text(encoding="utf-8")
    for name, contents in FILE.findall(text):
        (tmp_path / name).write_text(contents, encoding="utf-8")
    names: dict[str, object] = {}
    exec(GIVEN.get(page.name, ""), names)
    files = {contents for _, contents in FILE.findall(text)}
    shown = {found.start(): found[3] for found in BLOCK.finditer(text)}
    commands = {found.start(): found[2] for found in BLOCK.finditer(text) if found[1] == "sh"}
    programs = {found.start(): found[1] for found in PYTHON.finditer(text) if found[1] not in files}
    assert len(shown) == text.count("```text")
    for at, code in sorted((programs | commands).items()):
        if at in programs:
            exec(compile(code, f"{page.stem}.py", "exec"), names)
        else:
            command = shlex.split(code)
            assert command[0] == "hotdesk"
            assert main(command[1:]) == 0
        printed = capsys.readouterr().out.replace(f"{tmp_path}/", "")
        assert printed == shown.get(at, printed)


WITHOUT_OUTPUT = [page for page in ALL if page not in PAGES and page.name not in {*ELSEWHERE, "seeds.md"}]
OTHERS = [page for page in WITHOUT_OUTPUT if PYTHON.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.stem)
def test_python_of_pages_that_show_no_output(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/seeds.md is written by what it shows."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(GIVEN.get(page.name, ""), names)
    for code in PYTHON.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, f"{page.stem}.py", "exec"), names)


def _lines(page: Path, program: str) -> list[str]:
    """The command lines of that program on a page."""
    found = (
        line.removeprefix("$ ") for block in SH.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()
    )
    return [line for line in found if line.startswith(f"{program} ")]


@pytest.mark.parametrize(
    ("page", "line"),
    [pytest.param(page, line, id=f"{page.stem}-{line}") for page in ALL for line in _lines(page, "hotdesk-opt")],
)
def test_lines_of_hotdesk_opt(page: Path, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    own = (
        re.findall(r"^```mlir\n(func\.func @main.*?)```", text, re.DOTALL | re.MULTILINE)
        if page.name in MODELS_OF
        else []
    )
    Path("in.mlir").write_text(own[0] if own else IR)
    Path("program.mlir").write_text(MEMREFS)
    if page.name in MODELS_OF:
        Path(MODELS_OF[page.name]).write_text(next(code for code in PYTHON.findall(text) if "MODELS = " in code))
    words = shlex.split(line, comments=True)
    if "<" in words:
        at = words.index("<")
        monkeypatch.setattr("sys.stdin", io.StringIO(Path(words[at + 1]).read_text()))
        words = words[:at]
    assert opt(words[1:]) == 0


def test_lines_of_the_page_on_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_model.py").write_text(LAYERS)
    assert main(["report", "my_model.py:build", "--json", "main.json"]) == 0
    lines = _lines(DOCS / "report.md", "hotdesk")
    assert len(lines) > 10
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)
    assert Path("report.html").exists()


@pytest.mark.slow
def test_the_report_in_the_readme() -> None:
    shown = re.findall(
        r"^```text\n(main\npeak .*?)^```", (DOCS.parent / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    spec = MODELS["resnet50"]
    report = hotdesk.compile(spec.build(), spec.inputs()).report()
    assert [f"{report}\n".startswith(block) for block in shown] == [True]
