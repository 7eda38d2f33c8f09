"""docs/architecture.md: the files that it names are there, and its floors are those that modules keep; and what the source says
of itself: each folder in which order to read it, each op that two modules ask about once, each module which ops it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from tests.unit.test_floors import FLOORS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hotdesk"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_OTHERS = ("program.", "search.py", "models.py", "checker.py", "program.py", "ir.Op")
"""Beginnings of what is no module: methods of a `Program`, classes of MLIR's, files with the name of a package."""
_ABOUT_OPS = ("program", "analysis", "passes", "search")
"""Packages that ask models about ops."""
_OP = r"(?:affine|arith|bufferization|builtin|cf|func|hotdesk|linalg|math|memref|scf|tensor|tm_tensor|vector)\.\w+"


def test_files_are_there() -> None:
    named = set(re.findall(r"`(\w+(?:/\w+)+\.py)`", TEXT))
    assert len(named) > 20
    known = (ROOT, ROOT / "src" / "hotdesk")
    assert {name for name in named if not any((folder / name).exists() for folder in known)} == set()


def test_floors_are_those_of_the_modules() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)
    shown = [frozenset(re.findall(r"`(\w+)`", row)) for row in rows]
    for above, below in zip(FLOORS[::-1], FLOORS[-2::-1], strict=False):
        assert max(i for i, row in enumerate(shown) if row & set(above)) < min(
            i for i, row in enumerate(shown) if row & set(below)
        )


def test_modules_that_the_source_names_are_there() -> None:
    named = {path: _named(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert sum(map(len, named.values())) > 300
    astray = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path, names in named.items()
        for name in names
        if not _is_there(name, path)
    }
    assert astray == set()


def test_modules_that_are_not_there_are_found() -> None:
    text = "`plans/planner.py`, `planner.py`, `analysis.in_place.search`, `planning.planner.plan` and `planning.all_sizes.x`"
    path = SOURCE / "runtime" / "program.py"
    assert {name for name in _named(text) if not _is_there(name, path)} == {"planner.py", "planning.all_sizes.x"}


def test_modules_say_in_one_line_what_they_hold() -> None:
    longer = [
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if "\n" in _docstring(path).split("\n\n")[0]
    ]
    assert longer == []


def test_folders_say_in_which_order_they_are_read() -> None:
    unread = {folder: names for folder in _folders() if (names := _unread(folder))}
    assert unread == {}


def test_modules_that_a_folder_does_not_name_are_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text('"""Read `first.py`, then `second.py`."""')
    (tmp_path / "first.py").write_text('"""It stands on `third`."""')
    for name in ("second", "third", "fourth"):
        (tmp_path / f"{name}.py").write_text("")
    assert _unread(tmp_path) == {"fourth"}


def test_names_of_ops_stand_in_one_constant() -> None:
    assert _repeated({path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}) == {}


def test_names_of_ops_in_two_constants_are_found() -> None:
    sources = {
        Path("a.py"): 'CALL = "func.call"\n_X = ("scf.for", "scf.if")',
        Path("b.py"): '_CALL, Y = "func.call", 1',
    }
    assert _repeated(sources) == {"'func.call'": ["a.py", "b.py"]}


def test_names_that_models_have_are_not_spelled_in_comparisons() -> None:
    """Of those who may ask the models: what is below them is not."""
    known = {name for path in (SOURCE / "models").glob("*.py") for name in _constants(path.read_text(encoding="utf-8"))}
    assert {"func.return", "memref.alloc", "tensor.empty", "cf.assert"} <= known
    below = {
        name for names in FLOORS[: next(i for i, names in enumerate(FLOORS) if "models" in names)] for name in names
    }
    spelled = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0].removesuffix(".py") not in {*below, "models", "kernels"}
        for name in _compared(path.read_text(encoding="utf-8"))
        if name in known
    }
    assert spelled == set()


def test_names_in_comparisons_are_found() -> None:
    text = 'if op.name == "func.call" or x in ("scf.for", KNOWN) or made_by(v, "cf.br"): create("cf.assert")'
    assert _compared(text) == {"func.call", "scf.for", "cf.br"}
    assert _constants('A, _B = "cf.br", "scf.for"\nC = ("scf.if",)') == {"cf.br"}


def test_modules_say_which_ops_they_ask_about() -> None:
    """Analyses and passes: the name of an op is a constant of its model, or in the first lines of the module."""
    asked = {
        path: names
        for path in (path for folder in _ABOUT_OPS for path in (SOURCE / folder).rglob("*.py"))
        if (names := _asked(path.read_text(encoding="utf-8")))
    }
    assert len(asked) > 25
    assert {
        f"{path.relative_to(SOURCE)}: {name}"
        for path, names in asked.items()
        for name in names
        if name not in _docstring(path)
    } == set()


def test_names_in_cases_are_found() -> None:
    text = (
        'match op.name:\n    case "cf.br" | "scf.for":\n        pass\n    case ("arith.select", int(n)):\n        pass'
    )
    assert _asked(f'{text}\nop.name == "tensor.cast"') == {"cf.br", "scf.for", "arith.select", "tensor.cast"}


def _asked(text: str) -> set[str]:
    """The names of ops that a text compares with, or tells cases apart by."""
    cases = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.MatchValue))
    return _compared(text) | {str(each.value) for each in cases if isinstance(each, ast.Constant) and _is_of_ops(each)}


def _constants(text: str) -> set[str]:
    """The names of ops that constants of a module are, each by itself."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            targets = cast(ast.Tuple, target).elts if pairs else [target]
            for name, each in zip(targets, cast(ast.Tuple, value).elts if pairs else [value], strict=True):
                if isinstance(each, ast.Constant) and _is_of_ops(each) and not ast.unparse(name).startswith("_"):
                    found.add(str(each.value))
    return found


def _compared(text: str) -> set[str]:
    """The names of ops that a text compares with, or asks of what makes a value."""
    asked: list[ast.AST] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            asked += (node.left, *node.comparators)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "made_by":
            asked += node.args
    constants = (each for node in asked for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {str(each.value) for each in constants if _is_of_ops(each)}


def _folders() -> list[Path]:
    """The packages within the package: of the root docs/architecture.md tells."""
    return sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


def _unread(folder: Path) -> set[str]:
    """The modules of a folder that neither its docstring names nor the module that is to be read first."""
    text = _docstring(folder / "__init__.py")
    named = re.findall(r"`(\w+)(?:\.py)?`", text)
    first = next((folder / f"{name}.py" for name in named if (folder / f"{name}.py").exists()), None)
    named += [] if first is None else re.findall(r"`(\w+)(?:\.py)?`", _docstring(first))
    return {path.stem for path in folder.glob("*.py")} - {"__init__", *named}


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _repeated(sources: Mapping[Path, str]) -> dict[str, list[str]]:
    """The names of ops, or lists of them, that are constants of several modules, with these."""
    found: dict[str, list[str]] = {}
    for path, text in sources.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign):
                pairs = isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
                for value in cast(ast.Tuple, node.value).elts if pairs else [node.value]:
                    if _is_of_ops(value):
                        found.setdefault(ast.unparse(value), []).append(path.name)
    return {value: names for value, names in found.items() if len(names) > 1}


def _is_of_ops(value: ast.expr) -> bool:
    """Whether a constant is the name of an op, or a list of such."""
    if isinstance(value, (ast.Tuple, ast.Set, ast.List)):
        return bool(value.elts) and all(map(_is_of_ops, value.elts))
    text = value.value if isinstance(value, ast.Constant) else None
    return isinstance(text, str) and re.fullmatch(_OP, text) is not None


def _named(text: str) -> set[str]:
    """The files and modules that a text names, such as `plans/planner.py` and `analysis.in_place.search`."""
    dotted = re.findall(r"`([a-z]\w*(?:\.\w+)+)`", text)
    modules = {name for name in dotted if (SOURCE / name.split(".")[0]).is_dir() and not name.startswith(_OTHERS)}
    return {*re.findall(r"`((?:\w+/)*\w+\.py)`", text), *modules}


def _is_there(name: str, path: Path) -> bool:
    """Whether a file is there, seen from another one, or a module or a name in one."""
    if name.endswith(".py"):
        return any((folder / name).exists() for folder in path.parents if folder.is_relative_to(SOURCE))
    module = SOURCE.joinpath(*name.split("."))
    if module.is_dir() or module.with_suffix(".py").exists():
        return True
    around = (module.parent.with_suffix(".py"), module.parent / "__init__.py")
    return any(file.exists() and module.name in file.read_text(encoding="utf-8") for file in around)
