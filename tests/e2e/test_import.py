"""`import hotdesk` asks for little, and says what to install for the rest."""

from __future__ import annotations

import subprocess
import sys


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_imports_no_framework() -> None:
    code = """
import sys
import hotdesk
public = [getattr(hotdesk, name) for name in hotdesk.__all__]
heavy = {"torch", "onnx", "onnxruntime", "onnxscript", "ortools", "transformers", "matplotlib", "plotly", "pandas"}
print(*sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    assert _run(code) == ""


def test_modules_load_when_they_are_used() -> None:
    code = """
import sys
import hotdesk
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("hotdesk", "torch_mlir", "sympy")))
print(hotdesk.errors.ShapeError.code, hotdesk.plan.__module__, set(hotdesk.__all__) <= set(dir(hotdesk)))
print(hasattr(hotdesk, "nothing"), hotdesk.HotdeskError is hotdesk.errors.HotdeskError)
"""
    assert _run(code).splitlines() == [
        "hotdesk hotdesk.python hotdesk.python.lazy_names",
        "HD205 hotdesk.planning.planner True",
        "False True",
    ]


def test_the_command_line_loads_no_compiler() -> None:
    code = """
import sys
from hotdesk.cli import main, opt
opt.main(["--list-passes"])
print(*sorted({"sympy", "hotdesk.compiling.compile", "hotdesk.pipeline"} & set(sys.modules)) or ["none"])
"""
    assert _run(code).splitlines()[-1] == "none"


BLOCKED = """
import importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def test_without_torch() -> None:
    code = f"""{BLOCKED}
import hotdesk
try:
    hotdesk.compile(object())
except hotdesk.HotdeskError as error:
    assert isinstance(error, ImportError)
    print(type(error).__name__, error.code, error)
"""
    text = _run(code)
    assert text.startswith("MissingExtraError HD105")
    assert "hotdesk[torch]" in text


def test_plans_without_torch() -> None:
    code = f"""{BLOCKED}
from hotdesk import Buffer, Problem, plan
print(plan(Problem((Buffer("a", 0, 2, 64), Buffer("b", 2, 3, 64)))).arena)
"""
    assert _run(code) == "64"
